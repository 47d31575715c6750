"""A document of which something unforeseen goes wrong fails alone, is named, and is tried again; a store that fails stops."""

import pathlib
from collections.abc import Sequence

import pytest

from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import estimate
from ragcore.errors import ModelContextTooLong, StoreError
from ragcore.library import Library
from ragcore.stores.enrichment import Enrichment
from ragcore.stores.rows import StoredChunk
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened
from tests.ragcore.enrich.test_enrich import asker, run, say

TEXTS = {name: f"# Part\n\nMatter {name} is of many kilos." for name in "abcd"}
KEYWORDS = EnrichOptions(auto_keywords=2)


class Trouble(Exception):
    """What nobody foresaw."""


def broken_at(word: str, error: Exception) -> SayingModel:
    def saying(rules: str, material: str) -> str:
        if word in material:
            raise error
        return say(rules, material)

    return SayingModel(saying)


async def keywords(library: Library) -> dict[str, bool]:
    """Tell of each document whether its chunk has keywords."""
    found = await library.registry.chunks_of([f"s:{name}" for name in TEXTS])
    return {one.document_id.removeprefix("s:"): bool(one.keywords) for one in found}


async def test_what_nobody_foresaw_fails_its_document_alone(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        report = await run(library, broken_at("Matter b", Trouble("of one")), KEYWORDS)
        assert (report.documents, report.error) == (3, "")
        assert [(one.document_id, one.chunks) for one in report.failed] == [("s:b", 1)]
        assert "Trouble" in report.failed[0].reason
        assert "of one" not in report.failed[0].reason  # the log has that
        assert "of one" in caplog.text
        assert await keywords(library) == {"a": True, "b": False, "c": True, "d": True}
        # It is tried at the next sync, alone.
        mended = await run(library, SayingModel(say), KEYWORDS)
        assert (mended.documents, mended.usage.calls, mended.failed) == (1, 1, ())
        assert all((await keywords(library)).values())


async def test_a_store_that_fails_stops_the_pass(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        with pytest.raises(StoreError, match="disk"):
            await run(library, broken_at("Matter b", StoreError("the disk is full")), KEYWORDS)


@pytest.mark.parametrize("error", [Trouble("of one"), ModelContextTooLong("of one")])
async def test_what_fails_while_a_document_is_written_is_its_own(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        stage = library.staging.stage

        async def failing(stored: Sequence[StoredChunk]) -> None:
            await stage(stored)
            if any("Matter b" in one.chunk.text for one in stored):
                raise error

        with monkeypatch.context() as patched:
            patched.setattr(library.staging, "stage", failing)
            report = await run(library, SayingModel(say), KEYWORDS)
        assert (report.documents, [one.document_id for one in report.failed], report.error) == (3, ["s:b"], "")
        assert await keywords(library) == {"a": True, "b": False, "c": True, "d": True}
        assert (await run(library, SayingModel(say), KEYWORDS)).usage.calls == 0
        assert all((await keywords(library)).values())


async def test_an_estimate_goes_on_behind_it(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = Enrichment.chunks

    async def failing(self, generation, *, first, limit):  # type: ignore[no-untyped-def]
        found = await chunks(self, generation, first=first, limit=limit)
        if any("Matter b" in one.chunk.text for one in found):
            raise Trouble
        return found

    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        monkeypatch.setattr(Enrichment, "chunks", failing)
        told = await estimate(library, "kb", KEYWORDS, asker(library, SayingModel(say)))
        assert (told.documents, told.usage.calls, [one.document_id for one in told.failed]) == (3, 3, ["s:b"])
