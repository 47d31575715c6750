"""A research whose model chooses each step: what to search for, which document to read, and when it is enough."""
