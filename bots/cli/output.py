"""Where a command's results and remarks go: results to stdout, everything else to stderr."""

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

from rich.console import Console

from bots.rendering.clean import clean

_UNBROKEN = 100_000
"""Columns of an output that is no terminal: a line there ends where its text ends."""


def results() -> Console:
    """Return the console for results, on stdout."""
    return _console(sys.stdout.isatty(), stderr=False)


def remarks() -> Console:
    """Return the console for progress and remarks, on stderr."""
    return _console(sys.stderr.isatty(), stderr=True)


def _console(terminal: bool, *, stderr: bool) -> Console:
    width = None if terminal else _UNBROKEN
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False, soft_wrap=False)


def opening() -> AbstractContextManager[object]:
    """Show on a terminal, while the context lasts, that the data are being opened."""
    console = remarks()
    talking = console.is_terminal and sys.stdin.isatty()
    return console.status("Opening …", spinner_style="blue") if talking else nullcontext()


def say(text: str) -> None:
    """Print a line to stderr, made safe to show."""
    sys.stderr.write(f"{clean(text)}\n")
    sys.stderr.flush()


def print_json(value: Mapping[str, object] | Sequence[Mapping[str, object]]) -> None:
    """Print a value as JSON to stdout."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")
    sys.stdout.flush()


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to whatever stderr is just then: a progress bar takes it over, to keep its own line apart."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        self.stream = sys.stderr
        super().emit(record)


class _Lines(logging.Formatter):
    """Makes records safe to show; where an error arose is for ``--debug``."""

    def __init__(self, *, debug: bool) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s" if debug else "citebot: %(message)s")
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        if not self._debug and record.exc_info:
            record = logging.makeLogRecord({**vars(record), "exc_info": None, "exc_text": None})
            record.msg = f"{record.msg} (--debug shows where)"
        return clean(super().format(record))


def start_logging(*, debug: bool) -> None:
    """Send the log to stderr: warnings, and with ``debug`` everything of ours."""
    handler = _Stderr()
    handler.setFormatter(_Lines(debug=debug))
    logging.basicConfig(level=logging.INFO if debug else logging.WARNING, handlers=[handler], force=True)
    if debug:
        for package in ("bots", "ragcore", "connectors"):
            logging.getLogger(package).setLevel(logging.DEBUG)
