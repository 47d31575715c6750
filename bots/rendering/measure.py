"""Lengths as platforms count them."""


def units(text: str) -> int:
    """Return the length in UTF-16 units: never less than in code points, for where a platform's unit is disputed."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
