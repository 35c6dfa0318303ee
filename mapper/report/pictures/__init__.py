"""What results look like in a paper."""
