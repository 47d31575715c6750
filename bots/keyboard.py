"""The keys that are typed while an answer is written."""

import contextlib
import os
import sys
from collections.abc import Generator


@contextlib.contextmanager
def keys_unseen() -> Generator[None]:
    """Keep what is typed meanwhile from the screen, where it would break the frames; the next prompt shows it.

    Ctrl-C goes on working. Where stdin is no terminal nothing happens.
    """
    if os.name != "posix" or not sys.stdin.isatty():
        yield
        return
    # Not on every platform.
    import termios

    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    unseen = [*before]
    unseen[3] &= ~termios.ECHO
    termios.tcsetattr(keyboard, termios.TCSANOW, unseen)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)
