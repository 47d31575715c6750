"""Bytes become sections: one file a format, told by content and not only by name."""
