"""What comes in, before it is a turn: whether it is one, whose, after which others, and what changes it later."""
