"""Names that a model says mean the same lead to each other, for whoever may read the two chunks, while both are there."""

import json
import pathlib
import re
from typing import Any

import pytest
from sqlalchemy import select

from ragcore.enrich.asking import MOST_ATTEMPTS, Asker
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import estimate
from ragcore.graph.names import names_asked
from ragcore.library import Library
from ragcore.library.upkeep import sweep
from ragcore.prompts import OWN
from ragcore.stores.graphs import Admitted, Graphs
from ragcore.stores.model_results import ModelResults
from ragcore.stores.schema import graph_names
from ragcore.tokens import offline_tokenizer
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened
from tests.ragcore.graph.telling import GRAPH, IS_ASKED_OF_SAME, read_out, told
from tests.ragcore.retrieval.test_closed_documents import fill_closed

TEXTS = {
    "company": "# Company\n\nAnn Lee founded Brightwater.",
    "pier": "# Pier\n\nBright Water owns Pier Nine.",
    "board": "# Board\n\nCleo Day governs IFB.",
    "fruit": "# Fruit\n\nInternational Fruit Board supplies Port Elm.",
}
PAIRS = 2
"""Calls about names in doubt: the water and the board stand in two batches."""
READERS = frozenset({"slack:T1/@U1"})
OTHERS = frozenset({"slack:T1", "*"})
_PAIR = re.compile(r"^(\d+)\. (.*)\n   (.*)$", re.MULTILINE)


def say(rules: str, material: str) -> str:
    """Read out names, and call the same what begins with the same letter, or is the board."""
    if IS_ASKED_OF_SAME not in rules:
        return read_out(rules, material)
    pairs = [(int(number), one, other) for number, one, other in _PAIR.findall(material)]
    assert pairs
    same = [n for n, one, other in pairs if one[0] == other[0] or "Board" in one + other]
    return json.dumps({"same": same})


async def said(library: Library, name: str, readers: frozenset[str] | None = None) -> set[str]:
    """Return what is told of a name to these readers."""
    asked = names_asked(f"What of {name}?")
    graphs = Graphs(library.database)
    known = (await graphs.known(["kb"], asked)).get("kb", [])
    only = (await library.registry.permitted(["kb"], readers)).get("kb")
    around = await graphs.around("kb", asked, known, Admitted(only=only))
    return {line.said.partition(": ")[2] for line in around.near} if around else set()


FIRSTS = ("Kal", "Mer", "Sun", "Tol", "Vin")
PIER, FOUNDED = "Bright Water owns Pier Nine", "Ann Lee founded Brightwater"


async def test_names_of_one_thing_lead_to_each_other_and_are_asked_about_once(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        report = await told(library, say)
        assert (report.usage.calls, report.error) == (4 + PAIRS, ""), "one call a chunk, and those for the pairs"
        for name in ("Brightwater", "Bright Water"):
            assert await said(library, name) == {PIER, FOUNDED}
        for name in ("the IFB", "International Fruit Board"):
            assert await said(library, name) == {
                "Cleo Day governs IFB",
                "International Fruit Board supplies Port Elm",
            }
        assert await said(library, "Port Elm") == {"International Fruit Board supplies Port Elm"}
        again = await told(library, say)
        assert (again.usage.calls, again.cached) == (0, 0), "nothing has changed: nothing is even looked up"


@pytest.mark.soak
async def test_an_estimate_knows_the_calls(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await told(library, read_out)
        asker = Asker(
            model=SayingModel(say),
            identity="another",
            results=ModelResults(library.database),
            prompts=OWN,
            tokenizer=offline_tokenizer(),
        )
        assert (await estimate(library, "kb", GRAPH, asker)).usage.calls == 4 + PAIRS


@pytest.mark.soak
async def test_a_change_asks_anew_only_about_what_it_touches(tmp_path: pathlib.Path) -> None:
    words = [f"{first}{second}" for first in FIRSTS for second in ("dorf", "wick", "burg")]
    texts = {word: f"# {word}\n\n{word}hall owns Pier. {word}hal governs Pier." for word in words}
    async with opened(tmp_path) as library:
        await fill(library, texts)
        asked = (await told(library, say)).usage.calls - len(words)
        assert 2 <= asked < len(words)
        await fill(library, {"Sunwick": "# S\n\nSunwickholl owns Pier. Sunwickhol governs Pier."})
        change = await told(library, say)
        assert change.usage.calls == 1 + 1, "the chunk that changed, and the batch in which its names stand"
        assert change.cached == asked - 1
        assert (await told(library, say)).usage.calls == 0


async def test_it_goes_with_either_chunk(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        # Each name stands in a second chunk too, which does not tell what it means.
        await fill(library, TEXTS | {"b1": "# B\n\nBrightwater borders Elm.", "b2": "# B\n\nBright Water borders Oak."})
        await told(library, say)
        every = {PIER, FOUNDED, "Brightwater borders Elm", "Bright Water borders Oak"}
        assert await said(library, "Brightwater") == every
        (chunk_id,) = [row.chunk_id for row in await _findings(library) if row.key == "bright water"]
        (chunk,) = (await library.registry.live_chunks([chunk_id])).values()
        await library.staging.tombstone([chunk.document_id])
        left = {FOUNDED, "Brightwater borders Elm"}
        assert await said(library, "Brightwater") == left, "until it is asked anew"
        await sweep(library)
        assert await said(library, "Brightwater") == left
        await told(library, say)
        assert left < await said(library, "Brightwater") < every
        await told(library, options=EnrichOptions())
        assert await _findings(library) == []


async def _findings(library: Library) -> list[Any]:
    async with library.database.connect() as connection:
        query = select(graph_names).where(graph_names.c.stands_for.startswith("="))
        return list(await connection.execute(query.order_by(graph_names.c.chunk_id)))


async def test_only_chunks_of_the_same_readers_tell_what_names_mean(tmp_path: pathlib.Path) -> None:
    prompts: list[str] = []

    def listening(rules: str, material: str) -> str:
        if IS_ASKED_OF_SAME in rules:
            prompts.append(material)
        return say(rules, material)

    async with opened(tmp_path) as library:
        await fill(library, {name: TEXTS[name] for name in ("company", "board", "fruit")})
        await fill_closed(library, {"pier": TEXTS["pier"], "elm": "# E\n\nIFB owns Elm."}, READERS)
        await told(library, listening)
        assert len(prompts) == 1
        assert "Bright" not in prompts[0], "one of the names is told by a closed chunk alone"
        assert "Elm" not in prompts[0].replace("Port Elm", "")
        for readers in (OTHERS, READERS, None):
            assert await said(library, "Brightwater", readers) == {FOUNDED}
        assert len(await said(library, "IFB", OTHERS)) == 2
        assert len(await said(library, "IFB", READERS)) == 3
        # Told by closed chunks alone, only their readers learn of it, of what is open too.
        await fill_closed(library, {"both": "# B\n\nBrightwater borders Elm."}, READERS)
        await told(library, listening)
        assert await said(library, "Brightwater", OTHERS) == {FOUNDED}
        assert await said(library, "Bright Water", OTHERS) == set()
        assert await said(library, "Bright Water", READERS) == {PIER, FOUNDED, "Brightwater borders Elm"}


@pytest.mark.soak
@pytest.mark.parametrize("reply", ["They are all the same.", '{"same": [1'])
async def test_rubbish_leaves_them_apart_and_is_asked_a_few_times(tmp_path: pathlib.Path, reply: str) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        for attempt in range(1, MOST_ATTEMPTS + 1):
            report = await told(library, lambda rules, text: reply if IS_ASKED_OF_SAME in rules else say(rules, text))
            reasons = [one.reason for one in report.failed if one.document_id == "kb"]
            assert len(reasons) == (attempt < MOST_ATTEMPTS)
            assert all(reason.startswith("graph: ") for reason in reasons), reasons
            assert await said(library, "Brightwater") == {FOUNDED}
        assert (await told(library, say)).usage.calls == 0
