"""The best mapping or front, with a proof: branch and bound over chains."""
