"""The commands as processes of their own, over a real PostgreSQL and a real Chroma server."""

import asyncio
import json
import os
import pathlib
import random
import subprocess
import time
from typing import Any
from urllib.parse import urlsplit

import asyncpg  # type: ignore[import-untyped]
import pytest

from tests.fakes.running import start_command
from tests.fakes.settings import HANDBOOK

SETTINGS = f"""
data_dir = "{{name}}"
[database]
url = "{{database}}"
[chroma]
url = "{{chroma}}"
[turns]
lease = 3
{HANDBOOK}"""
LEAVE = "# Leave\n\nUp to {days} unused leave days may be carried into the next year."
QUESTION = "How many unused leave days may be carried into the next year?"


class Machine:
    """A folder of documents, and two data directories over the same servers."""

    def __init__(self, folder: pathlib.Path, database: str, chroma: str) -> None:
        self.documents = folder / "handbook"
        self.documents.mkdir()
        self._folder = folder
        self._database = database
        for name in ("one", "two"):
            (folder / f"{name}.toml").write_text(SETTINGS.format(name=name, database=database, chroma=chroma))

    def start(self, *words: str, place: str = "one") -> "subprocess.Popen[str]":
        """Start a command in one of the data directories."""
        return start_command(self._folder, "--config", str(self._folder / f"{place}.toml"), *words)

    def run(self, *words: str, place: str = "one", code: int = 0) -> Any:
        """Run a command to its end and return the JSON that it prints."""
        process = self.start(*words, "--json", place=place)
        out, err = process.communicate(timeout=120)
        assert process.returncode == code, err
        return json.loads(out)

    def put(self, days: str, others: int) -> None:
        (self.documents / "leave.md").write_text(LEAVE.format(days=days))
        for number in range(others):
            note = f"# Note {number}\n\nNote {number} of version {days} tells what happened in week {number}."
            (self.documents / f"note{number}.md").write_text(note)

    def kill_in_sync(self, after: float) -> None:
        """Start a sync, and kill it some seconds after it has begun to write."""
        before = asyncio.run(self._vectors())
        process = self.start("sync")
        end = time.monotonic() + 60
        while asyncio.run(self._vectors()) == before:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.05)
        time.sleep(after)
        process.kill()
        process.communicate()

    def take_over(self) -> Any:
        """Sync once the lease of whoever was killed has run out; until then it is refused."""
        for _ in range(20):
            process = self.start("sync", "--json")
            out, err = process.communicate(timeout=120)
            (report,) = json.loads(out)
            if not any("another process is syncing" in one["reason"] for one in report["failed"]):
                assert process.returncode == 0, (out, err)
                return report
            time.sleep(0.5)
        raise AssertionError("the lease never ran out")

    async def _vectors(self) -> int:
        connection = await asyncpg.connect(self._database.replace("+asyncpg", ""), password="x")
        try:
            return int(await connection.fetchval("SELECT count(*) FROM vectors"))
        finally:
            await connection.close()


@pytest.fixture
def machine(tmp_path: pathlib.Path, postgres_url: str, chroma_url: str) -> Machine:
    return Machine(tmp_path, postgres_url, chroma_url)


def _told(answer: dict[str, Any]) -> list[tuple[str, bool]]:
    """Return each cited document, and whether its quote tells of seven days."""
    return [(citation["document_id"], "seven" in citation["quote"]) for citation in answer["citations"]]


@pytest.mark.soak
def test_sync_ask_change_delete_crash_and_repair(machine: Machine, chroma_url: str) -> None:
    machine.put("five", 3)
    (report,) = machine.run("sync")
    assert (report["added"], report["failed"]) == (4, [])
    assert _told(machine.run("ask", QUESTION, place="two")) == [("handbook:leave.md", False)]

    machine.put("seven", 60)
    machine.kill_in_sync(after=random.Random(os.urandom(4)).uniform(0, 1.0))
    (machine.documents / "note1.md").unlink()
    report = machine.take_over()
    assert report["added"] + report["changed"] + report["unchanged"] == 60
    assert report["failed"] == []
    assert _told(machine.run("ask", QUESTION, place="two")) == [("handbook:leave.md", True)]
    assert _ill(machine.run("doctor", place="two")) == {}

    _spoil(chroma_url)
    assert _ill(machine.run("doctor", code=1)) == {"index: vectors of handbook": "fail"}
    assert _ill(machine.run("doctor", "--repair")) == {}
    assert _told(machine.run("ask", QUESTION, place="two")) == [("handbook:leave.md", True)]


def _ill(checks: list[dict[str, str]]) -> dict[str, str]:
    return {
        check["name"]: check["state"]
        for check in checks
        if check["name"].startswith(("index", "database")) and check["state"] != "ok"
    }


def _spoil(server: str) -> None:
    """Delete entries behind the back of the database."""
    import chromadb

    address = urlsplit(server)
    client = chromadb.HttpClient(host=str(address.hostname), port=address.port or 0)
    for collection in client.list_collections():
        collection.delete(ids=collection.get(limit=7)["ids"])
