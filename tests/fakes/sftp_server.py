"""A real SFTP server on this machine, in a thread with its own loop, that can be told to fail."""

import asyncio
import contextlib
import pathlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import asyncssh

USER, PASSWORD = "reader", "correct-horse-not-a-real-one"


@dataclass(slots=True)
class SftpFaults:
    """What the server is and does: ``fault`` is asked before each call, with its name and the path, and may raise."""

    folder: pathlib.Path
    port: int = 0
    known_hosts: str = ""
    password: str = PASSWORD
    fault: Callable[[str, str], None] | None = None
    asked: list[str] = field(default_factory=list)
    connections: list[asyncssh.SSHServerConnection] = field(default_factory=list)


class _Login(asyncssh.SSHServer):
    def __init__(self, faults: SftpFaults) -> None:
        self._faults = faults

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._faults.connections.append(conn)

    def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == (USER, self._faults.password)


def _server(faults: SftpFaults) -> type[asyncssh.SFTPServer]:
    class Server(asyncssh.SFTPServer):
        def __init__(self, channel: Any) -> None:
            super().__init__(channel, chroot=str(faults.folder).encode())

        def _note(self, call: str, path: bytes) -> None:
            text = path.decode("utf-8", "replace")
            faults.asked.append(f"{call} {text}")
            if faults.fault:
                faults.fault(call, text)

        def scandir(self, path: bytes) -> Any:
            self._note("list", path)
            return super().scandir(path)

        def open(self, path: bytes, pflags: int, attrs: Any) -> Any:
            self._note("open", path)
            return super().open(path, pflags, attrs)

    return Server


@contextlib.contextmanager
def sftp_server(folder: pathlib.Path, keys: pathlib.Path) -> Iterator[SftpFaults]:
    """Serve a folder until the context ends; ``keys`` is where its host key gets known."""
    faults = SftpFaults(folder)
    key = asyncssh.generate_private_key("ssh-ed25519")
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def listen() -> Any:
        return await asyncssh.listen(
            "127.0.0.1",
            0,
            server_host_keys=[key],
            server_factory=lambda: _Login(faults),
            sftp_factory=_server(faults),
            allow_scp=False,
        )

    server = asyncio.run_coroutine_threadsafe(listen(), loop).result(30)
    faults.port = server.get_port()
    public = key.export_public_key().decode().strip()
    path = keys / "known_hosts"
    path.write_text(f"[127.0.0.1]:{faults.port} {public}\n")
    faults.known_hosts = str(path)
    try:
        yield faults
    finally:

        async def close() -> None:
            server.close()
            await server.wait_closed()
            for connection in faults.connections:
                connection.abort()
                await connection.wait_closed()
            under_way = asyncio.all_tasks() - {asyncio.current_task()}
            if under_way:  # it ends by itself now
                await asyncio.wait(under_way, timeout=10)

        asyncio.run_coroutine_threadsafe(close(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
