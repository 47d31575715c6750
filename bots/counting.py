"""Counts in words."""


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 document`` or ``1,200 documents``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
