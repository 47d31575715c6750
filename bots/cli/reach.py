"""From a command to the operations: settings read, then the socket or the data itself."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path

import typer

from bots.service import WAIT, Backend, Gateway
from bots.settings import Settings, load_settings
from connectors.registry import options_model


def read_settings(config: Path | None) -> Settings:
    """Return the settings; a file that was named and isn't there is wrong use."""
    if config is not None and not config.expanduser().is_file():
        raise typer.BadParameter(f"there is no file {config}; `citebot init` writes one", param_hint="--config")
    return load_settings(config, source_model=options_model)


def open_data(settings: Settings, *, mending: bool) -> AbstractAsyncContextManager[Backend]:
    """Open the data itself; every start mends damaged indexes, but for the doctor, who tells of them first."""
    # The operations bring all the heavy packages with them; whoever is answered over the socket needs none.
    from bots.app import open_operations

    return open_operations(settings, mending=mending)


def reach(settings: Settings, *, command: str, serving: bool = False, wait: float = WAIT) -> Gateway:
    """Return the way to the operations, an async context."""
    mending = command != "doctor"
    return Gateway(
        settings.data_dir, lambda: open_data(settings, mending=mending), command=command, serving=serving, wait=wait
    )
