"""What each platform makes of a message, written from the platforms' documents: it refuses what they refuse."""
