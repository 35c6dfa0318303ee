"""The tables of `default_answers.py`: a module for each, on what the others have in measurements.py and known.py."""
