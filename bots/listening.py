"""Listening at a port of this machine, for webhooks and for who watches."""

import os

from aiohttp import web

from ragcore.errors import ConfigError


async def listen(runner: web.AppRunner, host: str, port: int, *, key: str) -> None:
    """Listen at an address, until the runner is cleaned up.

    Args:
        runner: What answers; it is set up.
        host: The address, a name or a number.
        port: The port.
        key: The setting that names the port, for whoever has to mend it.

    Raises:
        ConfigError: nothing can be listened for there; names the setting.
    """
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        # asyncio's own words repeat the address, and a name that isn't known has no number of the system.
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)
        told = f"{key}: {host}:{port} can't be listened at: {why}; end what listens there, or set another"
        raise ConfigError(told) from error
