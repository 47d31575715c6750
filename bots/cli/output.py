"""Where a command's results and remarks go: results to stdout, everything else to stderr."""

import json
import logging
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from typing import Literal, TextIO

from rich.console import Console

from bots.rendering.clean import clean

_TURN = re.compile(r"\bturn ([0-9a-f]{8})\b")
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

    def __init__(self, form: str, *, debug: bool) -> None:
        super().__init__(form)
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(_short(record, debug=self._debug)))


class _Objects(logging.Formatter):
    """One JSON object a line; ``turn`` is the reference of the turn that the line tells of."""

    def __init__(self, *, debug: bool) -> None:
        super().__init__()
        self._debug = debug

    def format(self, record: logging.LogRecord) -> str:
        short = _short(record, debug=self._debug)
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": short.getMessage(),
        }
        if turn := _TURN.search(told["message"]):
            told["turn"] = turn[1]
        if short.exc_info:
            told["error"] = self.formatException(short.exc_info)
        return json.dumps(told, ensure_ascii=False)


def _short(record: logging.LogRecord, *, debug: bool) -> logging.LogRecord:
    if debug or not record.exc_info:
        return record
    record = logging.makeLogRecord({**vars(record), "exc_info": None, "exc_text": None})
    record.msg = f"{record.msg} (--debug shows where)"
    return record


def start_logging(*, debug: bool, log_format: Literal["text", "json"] = "text", serving: bool = False) -> None:
    """Send the log to stderr: warnings, what a process that is ``serving`` does, and with ``debug`` all of ours."""
    handler = _Stderr()
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s" if debug or serving else "citebot: %(message)s"
    handler.setFormatter(_Objects(debug=debug) if log_format == "json" else _Lines(form, debug=debug))
    logging.basicConfig(level=logging.INFO if debug else logging.WARNING, handlers=[handler], force=True)
    # It tells at every start that it can't speak.
    logging.getLogger("discord.client").setLevel(logging.NOTSET if debug else logging.ERROR)
    for package in ("bots", "ragcore", "connectors"):
        logging.getLogger(package).setLevel(logging.DEBUG if debug else logging.INFO if serving else logging.NOTSET)
