"""Chat platforms, the terminal among them, and the commands that run Citebot."""
