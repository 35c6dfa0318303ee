"""The array libraries that run the model."""
