"""From a command to the operations: settings read, then the socket or the data itself."""

import contextlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import typer

from bots.cli.output import say
from bots.service import WAIT, Backend, Gateway, socket_in
from bots.settings import Settings, load_settings
from connectors.registry import options_model
from ragcore.stores.lock import holder

_ASKING = frozenset({"ask", "search", "chat"})
"""The commands whose first step is to embed a question."""


def read_settings(config: Path | None) -> Settings:
    """Return the settings; a file that was named and isn't there is wrong use."""
    if config is not None and not config.expanduser().is_file():
        raise typer.BadParameter(f"there is no file {config}; `citebot init` writes one", param_hint="--config")
    return load_settings(config, source_model=options_model)


def open_data(settings: Settings, *, command: str) -> AbstractAsyncContextManager[Backend]:
    """Open the data itself; every start mends damaged indexes, but for the doctor, who tells of them first."""
    if command in _ASKING and settings.embedding.provider == "minilm":
        _load_embedder()
    # The operations bring all the heavy packages with them; whoever is answered over the socket needs none.
    from bots.app import open_operations

    return open_operations(settings, mending=command != "doctor", warming=command == "chat")


def _load_embedder() -> None:
    """Begin to load the embedded model, which needs no interpreter, while the interpreter is busy importing."""
    from ragcore.models.minilm.network import load_network

    # A failure stays in here: the first question meets it again, and tells of it.
    thread = ThreadPoolExecutor(1)
    thread.submit(load_network)
    thread.shutdown(wait=False)


def reach(settings: Settings, *, command: str, serving: bool = False, wait: float = WAIT) -> Gateway:
    """Return the way to the operations, an async context."""
    _tell_if_older(settings)
    return Gateway(
        settings.data_dir, lambda: open_data(settings, command=command), command=command, serving=serving, wait=wait
    )


def _tell_if_older(settings: Settings) -> None:
    """Tell when the process that will answer began before the settings were last changed."""
    path = socket_in(settings.data_dir)
    if path is None or settings.file is None:
        return
    with contextlib.suppress(OSError):
        if settings.file.stat().st_mtime > path.stat().st_mtime:
            older = f"{holder(settings.data_dir)} began before the settings were last changed"
            say(f"citebot: {older}: restart it to have it use them")
