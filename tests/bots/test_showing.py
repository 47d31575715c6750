"""Passages as pictures: fetched again from their source, drawn only while the document is what was indexed."""

import base64
import pathlib

import pytest
import typer

import bots.app.showing
from bots.app import Operations
from bots.cli.picturing import draw, picture_folder, write_pictures
from bots.requests import Ask, Found, Recall, Search, Show, Shown, Sync
from bots.turn.pictures import PictureLimits, Pictures
from connectors.files.connector import FilesConnector
from ragcore.types import ConversationKey, ScoredChunk
from tests.bots.handbook import answered, opened, told
from tests.ragcore.parsing.makers import lines, pdf

PAGES = [
    lines(["The ferry to Brightwater leaves at seven in the morning."]),
    lines(["Bicycles are carried on the lower deck without a charge."]),
]
PNG = b"\x89PNG\r\n\x1a\n"


async def found_in(operations: Operations, query: str, name: str) -> ScoredChunk:
    (found,) = await told(operations, Search(query=query))
    assert isinstance(found, Found)
    return next(one for one in found.chunks if one.chunk.document_id == f"handbook:{name}")


async def shown(operations: Operations, *chunks: str, audience: frozenset[str] | None = None) -> list[Shown]:
    events = await told(operations, Show(chunks=chunks, audience=audience))
    return [event for event in events if isinstance(event, Shown)]


async def test_a_passage_is_shown_as_long_as_its_document_is_what_was_indexed(
    home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ferry = home / "handbook" / "ferry.pdf"
    ferry.write_bytes(pdf(PAGES))
    fetched: list[str] = []
    fetch = FilesConnector.fetch
    monkeypatch.setattr(FilesConnector, "fetch", lambda self, ids: fetched.extend(ids) or fetch(self, ids))
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        fetched.clear()
        bicycle = (await found_in(operations, "bicycles on the lower deck", "ferry.pdf")).chunk
        morning = (await found_in(operations, "when does the ferry to Brightwater leave", "ferry.pdf")).chunk
        leave = (await found_in(operations, "unused leave days", "leave.md")).chunk
        pictures = await shown(operations, bicycle.id, leave.id, morning.id, "0-0")
        assert [(one.chunk_id, one.pages, bool(one.image), one.reason) for one in pictures] == [
            (leave.id, (), False, "its document has no pages to show"),
            ("0-0", (), False, "it isn't indexed any more"),
            (bicycle.id, (2,), True, ""),
            (morning.id, (1,), True, ""),
        ]
        assert fetched == ["handbook:ferry.pdf"], "once for both passages, and none without boxes"

        # For those who may read it alone.
        (open_,) = await shown(operations, bicycle.id, audience=frozenset({"slack:T1"}))
        (closed,) = await shown(operations, bicycle.id, audience=frozenset({"slack:T2"}))
        assert open_.image == pictures[2].image
        assert (closed.image, closed.reason) == (None, "it isn't indexed any more")

        ferry.write_bytes(pdf([PAGES[1], PAGES[0], PAGES[0]]))
        (changed,) = await shown(operations, bicycle.id)
        assert changed.image is None
        assert "has changed since" in changed.reason
        ferry.unlink()
        (gone,) = await shown(operations, bicycle.id)
        assert "does not have it any more" in gone.reason


async def the_chat_platforms_get_the_same(operations: Operations, drawn: Shown) -> None:
    pictures = Pictures(operations, PictureLimits())
    assert await pictures.of(Recall(reference="0123abcd", audience=frozenset({"slack:T2"}))) == ()
    (picture,) = await pictures.of(Recall(reference="0123abcd", audience=frozenset({"slack:T1"})))
    assert drawn.image is not None
    assert (picture.number, picture.png) == (1, base64.b64decode(drawn.image.data))
    assert picture.label.startswith("Ferries & Boats, ")


@pytest.mark.soak
async def test_a_source_that_gives_nothing_in_time_or_has_no_settings_is_told(
    home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "handbook" / "ferry.pdf").write_bytes(pdf(PAGES))
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        chunk = (await found_in(operations, "bicycles on the lower deck", "ferry.pdf")).chunk
        monkeypatch.setattr(bots.app.showing, "FETCH_SECONDS", 0.0)
        (late,) = await shown(operations, chunk.id)
        assert "did not give it within" in late.reason
    monkeypatch.undo()
    text = (home / "citebot.toml").read_text().replace('name = "handbook"', 'name = "other"')
    (home / "citebot.toml").write_text(text)
    async with opened(home) as (operations, _):
        (orphan,) = await shown(operations, chunk.id)
        assert orphan.reason == "its source has no settings any more"


async def test_the_pictures_of_an_answer_are_written_to_a_folder(
    home: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "handbook" / "ferry.pdf").write_bytes(pdf(PAGES, title="Ferries & Boats"))
    folder = picture_folder(home / "new" / "pictures")
    assert folder is not None
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        here = ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.5")
        ask = Ask(question="On which deck are bicycles carried?", conversation=here, reference="0123abcd")
        answer = await answered(operations, ask)
        cited = [(one.number, one.chunk_id, one.title) for one in answer.citations]
        drawn = await draw(operations, [*cited, (9, "0-0", "Gone")])
        await the_chat_platforms_get_the_same(operations, next(one for one in drawn if one.image))
    write_pictures(drawn, [*cited, (9, "0-0", "Gone")], folder)
    path = folder / "1-ferries-boats-p2.png"
    assert path.read_bytes().startswith(PNG)
    image = next(one.image for one in drawn if one.image)
    assert base64.b64decode(image.data) == path.read_bytes()
    said = capsys.readouterr().err.splitlines()
    assert said[0] == f"1. {path}"
    assert said[-1] == "9. no picture: it isn't indexed any more"
    (home / "file").write_text("")
    with pytest.raises(typer.BadParameter, match="can't be made"):
        picture_folder(home / "file" / "pictures")
