"""The conformance suite on ``reader``: a loader of LangChain's kind, in its own process."""

import json
from typing import ClassVar

import pytest

from connectors.base import Origin
from connectors.reader import ReaderConnector, ReaderOptions
from tests.connectors.conformance import Conformance
from tests.connectors.world import World


class LoaderWorld(World):
    """What a file holds, which the loader reads."""

    cannot: ClassVar = {
        "vanish": "a reader lists by reading, so there is nothing in between",
        "skew": "what has changed is told by the text, not by times",
        "late": "what is new is told by what a reader gives, not by times",
    }

    def __init__(self, file) -> None:
        self.file = file
        self.documents: dict[str, dict] = {}
        self.fault: object = ""
        self.spoilt: dict[str, str] = {}
        self.write()

    def write(self) -> None:
        self.file.write_text(json.dumps({"documents": self.documents, "fault": self.fault}))

    def connect(self, origin: Origin) -> ReaderConnector:
        options = {"arguments": {"state": str(self.file)}, "readers": "readers", "max_megabytes": 0.01, "timeout": 30}
        return ReaderConnector(origin, ReaderOptions(loader="tests.fakes.loaders.StateLoader", **options))

    async def add(self, name: str, text: str) -> None:
        self.documents[name] = {"text": text, "metadata": {"readers": ["*"], "title": name}}
        self.write()

    async def change(self, name: str, text: str) -> None:
        self.documents[name]["text"] = text
        self.write()

    async def delete(self, name: str) -> None:
        del self.documents[name]
        self.write()

    async def rename(self, old: str, new: str) -> None:
        self.documents[new] = self.documents.pop(old)
        self.write()

    async def duplicate(self, name: str) -> None:
        self.documents[name]["twice"] = True
        self.write()

    async def restrict(self, name: str, addresses: frozenset[str]) -> None:
        self.documents[name]["metadata"]["readers"] = sorted(addresses)
        self.write()

    async def spoil(self, name: str) -> None:
        self.spoilt[name] = self.documents[name]["text"]
        await self.change(name, "x" * 20_000)

    async def break_page(self, status: int = 500) -> None:
        await self.set(status)

    async def rate_limit(self, seconds: int) -> None:
        await self.set(f"wait {seconds}")

    async def expire_token(self) -> None:
        await self.set(401)

    async def truncate(self) -> None:
        await self.set("short")

    async def break_form(self) -> None:
        await self.set("form")

    async def leave(self) -> None:
        await self.set("away")

    async def set(self, fault: object) -> None:
        self.fault = fault
        self.write()

    async def mend(self) -> None:
        self.fault = ""
        for name, text in self.spoilt.items():
            self.documents[name]["text"] = text
        self.spoilt.clear()
        self.write()


class TestReader(Conformance):
    at_length_in_soak = True

    @pytest.fixture
    async def world(self, tmp_path):
        return LoaderWorld(tmp_path / "state.json")
