"""What no mapping can beat: lower bounds of energy and cycles."""
