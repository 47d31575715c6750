"""A type of source ``made`` whose sources a test holds in its hand: ``key = "..."`` is their credential."""

import asyncio
import pathlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import SecretStr

from bots.settings import Settings, load_settings
from connectors.base import Change, Options, Origin, SourceType
from connectors.registry import options_model
from tests.connectors.memory import Memory, MemoryConnector

Find = Callable[[Any, Mapping[str, Any]], Sequence[str]]


class MadeOptions(Options):
    key: SecretStr = SecretStr("k")


@dataclass
class Made:
    """The sources by name; one that ``hangs`` begins to be read, and gives no sign of life until it ``goes_on``."""

    sources: dict[str, Memory] = field(default_factory=dict)
    hangs: set[str] = field(default_factory=set)
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)
    running: set[str] = field(default_factory=set)
    together: int = 0
    runs: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def source(self, name: str, **texts: str) -> Memory:
        memory = self.sources.setdefault(name, Memory())
        for document, text in texts.items():
            memory.put(document, text)
        return memory

    def create(self, origin: Origin, options: MadeOptions) -> "MadeConnector":
        self.keys.append(options.key.get_secret_value())
        return MadeConnector(self.source(origin.source), origin, 3, self)


@dataclass
class MadeConnector(MemoryConnector):
    made: Made

    async def changes(self, cursor: str | None, known: Mapping[str, str]) -> AsyncIterator[Change]:
        name = self.origin.source
        assert name not in self.made.running, "one run of a source at a time"
        self.made.running.add(name)
        self.made.runs.append(name)
        self.made.together = max(self.made.together, len(self.made.running))
        try:
            await asyncio.sleep(0.02)
            if name in self.made.hangs:
                await self.made.goes_on.wait()
            async for change in super().changes(cursor, known):
                yield change
        finally:
            self.made.running.discard(name)


def touched(options: MadeOptions, event: Mapping[str, Any]) -> list[str]:
    """Return what an event names; one that names nothing is of a form that this type doesn't know."""
    return [str(name) for name in event["documents"]]


def made_type(monkeypatch: pytest.MonkeyPatch, name: str = "made", find: Find = touched) -> Made:
    """Let the type be there; ``find`` is its ``touched``."""
    from connectors import registry

    made, real = Made(), registry._load
    kind = SourceType(options=MadeOptions, create=made.create, touched=find)
    monkeypatch.setattr(registry, "_load", lambda wanted: kind if wanted == name else real(wanted))
    return made


def made_settings(
    folder: pathlib.Path, *names: str, schedule: str = "", key: str = "k1", more: str = "", type_name: str = "made"
) -> Settings:
    """Return settings with a source of the type for each name, all in one knowledge base."""
    every = f'schedule = "{schedule}"\n' if schedule else ""
    tables = (
        f'[[sources]]\nname = "{name}"\ntype = "{type_name}"\nknowledge_base = "kb"\nkey = "{key}"\n{every}'
        for name in names
    )
    (folder / "citebot.toml").write_text(more + "".join(tables), encoding="utf-8")
    return load_settings(folder / "citebot.toml", source_model=options_model)
