"""In which threads something is done."""

import threading
from collections.abc import Callable
from typing import Any


class Threads:
    """Whether work was done in the loop's own thread, by the name of the work."""

    def __init__(self) -> None:
        self.in_loop: dict[str, set[bool]] = {}

    def watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """Return the work, which is noted from now on."""

        def work(*given: Any, **named: Any) -> Any:
            self.in_loop.setdefault(name, set()).add(threading.current_thread() is threading.main_thread())
            return real(*given, **named)

        return work
