"""The commands that a user types. Nothing imports this room."""
