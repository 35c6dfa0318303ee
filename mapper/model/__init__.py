"""What executing a mapping counts and costs, exactly."""
