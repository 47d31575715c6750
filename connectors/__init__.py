"""Source systems: what they hold, and the runs that keep the index true to them."""
