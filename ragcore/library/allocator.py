"""Keeps the C library from hoarding what was freed, which no setting of ours or of Python's would.

Indexing hands a few hundred kilobytes at a time from thread to thread: SQLite's, Chroma's, Tantivy's, Python's. glibc
gives each thread a heap of its own, and takes blocks from it that it would have asked the system for, once it has seen
one freed; in the holes that are left much of the memory stays. Measured by ``benchmarks.memory``.
"""

import ctypes

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_BYTES = 128 * 1024
"""glibc's own first value; naming it keeps it where it is."""


def return_freed_memory() -> None:
    """Have large blocks go back to the system as soon as they are freed, in the whole process; glibc alone needs it."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # another C library
        return
    for option in (_MMAP_THRESHOLD, _TRIM_THRESHOLD):
        mallopt(option, _BYTES)
