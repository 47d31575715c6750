"""Questions through the socket while a sync rewrites the very documents that they are about."""

import asyncio
import itertools
import pathlib
import random
import re
import time
from collections.abc import Sequence
from typing import Any

import pytest

from bots.app import open_operations
from bots.requests import Ask, Sync
from bots.service import Remote, serve
from bots.settings import load_settings
from ragcore.reports import SyncReport
from ragcore.stores.registry import Registry
from ragcore.types import Answer
from tests.fakes.settings import read_by_all
from tests.soak import scaled

SETTINGS = read_by_all("places")
NAMES = ("Harbour", "Lighthouse", "Orchard", "Quarry", "Windmill")
ASKERS = 2
ROUNDS = 6
LONGEST = 60.0


def write(folder: pathlib.Path, name: str, version: int) -> None:
    text = (
        f"# {name}\n\nThe gate code of the {name} is {1000 + version}.\n\n## Keeper\n\nIts keeper is number {version}."
    )
    (folder / f"{name}.md").write_text(text)


def versions_of(answer: Answer, name: str) -> tuple[set[int], set[int]]:
    """Return the versions of a place that an answer was given, and those that it tells."""
    document = f"places:{name}.md"
    given = {
        int(number) - 1000 if int(number) >= 1000 else int(number)
        for scored in answer.chunks
        if scored.chunk.document_id == document
        for number in re.findall(r"\d+", scored.chunk.text)
    }
    told = {
        int(number) - 1000
        for citation in answer.citations
        if citation.document_id == document
        for number in re.findall(r"code of the \w+ is (\d+)", citation.quote)
    }
    return given, told


async def test_every_answer_rests_on_the_old_or_the_new_version(
    tmp_path: pathlib.Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never on neither, never on both; also when what was found is looked up only a while later."""
    look_up, pauses = Registry._settled, random.Random(3)

    async def late(*args: Any) -> Any:
        await asyncio.sleep(pauses.choice((0.0, 0.4)))
        return await look_up(*args)

    monkeypatch.setattr(Registry, "_settled", late)
    places = tmp_path / "places"
    places.mkdir()
    drawn = random.Random(11)
    current = dict.fromkeys(NAMES, 0)
    for name in NAMES:
        write(places, name, 0)
    (tmp_path / "citebot.toml").write_text(SETTINGS)
    asked: list[tuple[str, set[int]]] = []
    done = asyncio.Event()
    settings = load_settings(tmp_path / "citebot.toml")
    async with open_operations(settings) as operations, serve(operations, tmp_path_factory.mktemp("s")) as path:
        remote = Remote(path)

        async def ask(chosen: random.Random) -> None:
            while not done.is_set():
                name = chosen.choice(NAMES)
                least = current[name] - 1  # what was written last may not be indexed yet
                question = f"What is the gate code of the {name}?"
                events = [event async for event in remote.run(Ask(question=question))]
                answer = events[-1]
                assert isinstance(answer, Answer)
                given, told = versions_of(answer, name)
                assert len(given) == 1, f"{name}: {given} of {least} to {current[name]}"
                assert told == given
                assert max(0, least) <= min(given) <= current[name]
                asked.append((name, given))

        async def sync() -> SyncReport:
            events = [event async for event in remote.run(Sync())]
            assert isinstance(events[-1], SyncReport)
            assert not events[-1].failed
            return events[-1]

        assert (await sync()).added == len(NAMES)
        askers = [asyncio.create_task(ask(random.Random(seed))) for seed in range(ASKERS)]
        ends = time.monotonic() + LONGEST
        for turn in itertools.count():
            # A few rounds may be over before the askers have seen two versions of anything.
            if turn >= scaled(ROUNDS) and (_moved(asked) or time.monotonic() > ends):
                break
            changed = drawn.sample(NAMES, drawn.randint(1, len(NAMES)))
            for name in changed:
                current[name] += 1
                write(places, name, current[name])
            assert (await sync()).changed == len(changed)
            if any(asker.done() for asker in askers):
                break
        done.set()
        await asyncio.gather(*askers)
    assert _moved(asked), "the answers moved with the documents"


def _moved(asked: Sequence[tuple[str, set[int]]]) -> bool:
    """Whether enough was asked for some document to be met in two versions."""
    return len({(name, *given) for name, given in asked}) > len(NAMES) and len(asked) > 2 * ROUNDS
