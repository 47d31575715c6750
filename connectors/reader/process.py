"""Runs a reader in a process of its own, and gives what it tells; the process never outlives the reading."""

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from connectors.http.faults import DEFAULT_WAIT
from connectors.reader import child
from connectors.reader.hiding import masked
from connectors.reader.options import ReaderOptions
from ragcore.errors import (
    CitebotError,
    ConfigError,
    SourceAuthError,
    SourceBadReply,
    SourceError,
    SourceGone,
    SourceRateLimited,
)

LARGE = 200_000
"""Bytes of a document above which it is looked through in a thread: it would hold up others for milliseconds."""
_FRAME = 1_000_000_000
_LONGEST = 400
"""Characters of what a package says that are shown."""
_CREDENTIAL = (SourceAuthError, "check the credential among `secrets`")
_PLACE = (SourceGone, "check `arguments` and `load_arguments`")
_FAILED = (SourceError, "see whether its source can be reached, and check its `arguments`")
_STATUSES: Mapping[int, tuple[type[SourceError], str]] = MappingProxyType(
    {401: _CREDENTIAL, 403: _CREDENTIAL, 404: _PLACE, 410: _PLACE}
)


async def told_by(options: ReaderOptions, folder: Path) -> AsyncGenerator[dict[str, Any], None]:
    """Yield the documents of the reader as they come.

    Raises:
        ConfigError: it can't be imported, or doesn't take its arguments.
        SourceError: it failed, gave something else than documents, or nothing for too long.
    """
    process = await _start(folder)
    try:
        await _ask(process, options)
        while True:
            try:
                async with asyncio.timeout(options.timeout):
                    value = await _received(process)
            except TimeoutError:
                said = f"{options.loader} gave nothing for {options.timeout:g} s"
                raise SourceError(said, mend="raise `timeout`, or let it read less") from None
            if "end" in value:
                if value["end"]:
                    raise fault_of(value["end"], options)
                return
            yield value
    except (asyncio.IncompleteReadError, ConnectionError):
        ending = await process.wait()
        said = f"the process of {options.loader} ended in the middle ({_ending(ending)})"
        raise SourceError(said, mend="try it in Python by hand; it may want more memory than there is") from None
    finally:
        await _stop(process)


async def _start(folder: Path) -> Process:
    # The paths go along: whoever runs us may have found this package by other means than an installation.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUNBUFFERED": "1"}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # else the folder of our modules stood first where it looks for its own
        child.__file__,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,  # packages print what they were given, keys among it
        cwd=folder,
        env=environment,
        start_new_session=True,  # what it starts itself (a browser) ends with it
    )


async def _ask(process: Process, options: ReaderOptions) -> None:
    assert process.stdin is not None
    secrets = {name: value.get_secret_value() for name, value in options.secrets.items()}
    task = {
        "loader": options.loader,
        "arguments": {**options.arguments, **secrets},
        "load_arguments": options.load_arguments,
        "method": options.method,
        "most": int(options.max_megabytes * 1_000_000),
    }
    data = json.dumps(task).encode()
    process.stdin.write(len(data).to_bytes(child.HEADER, "little") + data)
    await process.stdin.drain()  # and it stays open: it is closed with us, whatever ends us


async def _received(process: Process) -> dict[str, Any]:
    assert process.stdout is not None
    size = int.from_bytes(await process.stdout.readexactly(child.HEADER), "little")
    if size > _FRAME:
        raise SourceBadReply("a document has more than 1 GB of metadata", mend="let the reader give less")
    data = await process.stdout.readexactly(size)
    value: dict[str, Any] = json.loads(data) if size <= LARGE else await asyncio.to_thread(json.loads, data)
    return value


async def _stop(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
    await process.wait()
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"status {code}"


def fault_of(told: Mapping[str, Any], options: ReaderOptions) -> CitebotError:
    """Return the fault that the reader's end means."""
    reason = masked(str(told["reason"]), options.hidden())[:_LONGEST]
    kind, status, where = told["kind"], int(told.get("status") or 0), options.loader
    if kind == "import":
        return ConfigError(f"{where} cannot be loaded: {reason}; install what it needs{_package(told, where)}")
    if kind == "arguments":
        return ConfigError(f"{where}: {reason}; see `arguments`, `secrets`, `load_arguments` and `method`")
    if kind == "form":
        return SourceBadReply(f"{where}: {reason}", mend="name a reader or a document loader, or another `method`")
    if status == 429:
        wait = float(told["wait"]) if told.get("wait") else DEFAULT_WAIT
        return SourceRateLimited(f"{where} was asked to wait: {reason}", retry_after=wait)
    fault, mend = _STATUSES.get(status, _FAILED)
    return fault(f"{where} failed: {reason}", mend=mend)


def _package(told: Mapping[str, Any], where: str) -> str:
    """Return how to install what is missing: the package of a module that isn't there at all."""
    missing = str(told.get("missing") or "")
    if not missing:
        return ""
    if missing not in {where.partition(".")[0], "llama_index"}:
        return f": pip install {missing.replace('_', '-')}"
    parts = where.replace(":", ".").split(".")
    if parts[0] != "llama_index":
        return f": pip install {parts[0].replace('_', '-')}"
    named = "-".join(parts[:3]) if len(parts) > 2 and parts[1] == "readers" else "llama-index-core"
    return f": pip install {named.replace('_', '-')}"
