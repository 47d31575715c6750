"""Files beside a question: what becomes of each, in words, and what is searched, asked and remembered of it."""

import asyncio
import base64
import pathlib
from dataclasses import replace

import pytest

from bots.app import open_operations
from bots.platform import Attachment
from bots.requests import Ask, Describe, Sync
from bots.settings import load_settings
from bots.turn.options import FileLimits
from bots.words.sentences import Word, word
from ragcore.errors import ModelUnreachable
from tests.bots.turn.flows import OPTIONS, SEEN, flowing, turning
from tests.fakes.openai_server import OpenAIServer, Reply
from tests.fakes.openai_server import Request as Call
from tests.fakes.platform import FakePlatform, Server, asked
from tests.fakes.virtual import run
from tests.fakes.waiting import until

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
SEES = replace(OPTIONS, files=FileLimits(images=True, count=3, bytes=2_000, image_bytes=1_000))


def png(name: str = "shot.png", size: int = 0) -> Attachment:
    return Attachment(id=name, name=name, media_type="image/png", size=size)


def told(files: dict[str, bytes], *attachments: Attachment, text: str = "Is that right?", seen: object = SEEN) -> str:
    """Return the answer to a question with these files."""
    texts: list[str] = []

    async def talk() -> None:
        async with flowing(options=SEES) as flow:
            flow.model.seen = seen  # type: ignore[assignment]
            flow.platform.files = files
            await flow.turns.receive(asked(text, attachments=attachments))
            await flow.idle()
            texts.extend(flow.texts("q1"))

    run(talk())
    (shown,) = texts
    return shown


def test_a_picture_becomes_words_beside_the_question() -> None:
    async def talk() -> None:
        async with flowing(options=SEES) as flow:
            flow.platform.files, flow.model.looks = {"shot.png": PNG}, 10.0
            await flow.turns.receive(asked("What does it mean?", attachments=(png(),)))
            await flow.idle()
            looked, request = [one for one in flow.model.asked if isinstance(one, Describe | Ask)]
            assert isinstance(looked, Describe)
            assert isinstance(request, Ask)
            assert (base64.b64decode(looked.image.data), looked.question) == (PNG, "What does it mean?")
            assert request.question == "What does it mean?"
            assert [message.text for message in request.attached] == [f"shot.png:\n\n{SEEN}"]
            assert not any(message.images for message in request.attached), "the picture goes nowhere else"
            assert ("q1", word("looking")) in flow.server.statuses
            assert flow.turns.meter.tokens == {"prompt": 9, "completion": 3}

    run(talk())


def test_a_picture_without_a_word_is_the_question() -> None:
    async def talk() -> None:
        async with flowing(options=SEES) as flow:
            flow.platform.files = {"shot.png": PNG, "notes.md": b"How many days?"}
            await flow.turns.receive(asked("", attachments=(png(),)))
            await flow.turns.receive(
                asked("", message="q2", channel="C2", attachments=(Attachment(id="notes.md", name="notes.md"),))
            )
            await flow.idle()
            requests = [one for one in flow.model.asked if isinstance(one, Ask)]
            assert {(one.question, one.attached) for one in requests} == {(SEEN, ()), ("How many days?", ())}

    run(talk())


def test_what_nobody_typed_goes_to_no_engine() -> None:
    async def talk() -> None:
        async with flowing(options=replace(SEES, web=True)) as flow:
            flow.platform.files = {"notes.md": b"The merger closes on 4 May."}
            notes = Attachment(id="notes.md", name="notes.md")
            await flow.turns.receive(asked("", attachments=(notes,)))
            await flow.turns.receive(asked("When?", message="q2", channel="C2", attachments=(notes,)))
            await flow.idle()
            requests = [one for one in flow.model.asked if isinstance(one, Ask)]
            assert {(one.question, one.web, bool(one.typed_by)) for one in requests} == {
                ("The merger closes on 4 May.", False, False),
                ("When?", True, True),
            }

    run(talk())


def test_the_content_tells_what_a_file_is() -> None:
    """A text by the name of a picture is read as a text, a picture by the name of a text is looked at."""

    async def talk() -> None:
        async with flowing(options=SEES) as flow:
            flow.platform.files = {"a.png": b"Only words.", "b.txt": PNG}
            files = (png("a.png"), Attachment(id="b.txt", name="b.txt", media_type="text/plain"))
            await flow.turns.receive(asked("Why?", attachments=files))
            await flow.idle()
            (request,) = [one for one in flow.model.asked if isinstance(one, Ask)]
            assert [message.text for message in request.attached] == ["a.png:\n\nOnly words.", f"b.txt:\n\n{SEEN}"]

    run(talk())


@pytest.mark.parametrize(
    ("attachment", "content", "why"),
    [
        (png(size=1_001), PNG, "file_too_large"),
        (png(), PNG + bytes(1_000), "file_too_large"),
        (png(), PNG + bytes(2_000), "file_not_read"),
        (Attachment(id="a.txt", name="shot.png", size=2_001), b"x", "file_too_large"),
        (Attachment(id="x", name="shot.png", media_type="audio/ogg"), b"OggS", "cannot_read"),
        (Attachment(id="gone", name="shot.png"), b"", "file_not_read"),
        # Not for the process that reads what is complex: this loop's time does not wait for one.
        (Attachment(id="shot.png", name="shot.png"), bytes(range(1, 32)), "cannot_read"),
    ],
)
def test_what_is_not_read_is_told_with_the_reason(attachment: Attachment, content: bytes, why: Word) -> None:
    files = {} if attachment.id == "gone" else {attachment.id: content}
    for text in ("Is that right?", ""):
        shown = told(files, attachment, text=text)
        assert word(why, name="shot.png") in shown
        assert ("five days" in shown) == bool(text), "the question itself is answered"


def test_a_model_that_fails_is_told_and_the_question_answered() -> None:
    shown = told({"shot.png": PNG}, png(), seen=ModelUnreachable("no connection"))
    assert word("file_not_read", name="shot.png") in shown
    assert "five days" in shown


def test_no_more_files_are_read_than_there_may_be() -> None:
    files = [png(f"{number}.png") for number in range(5)]
    shown = told({file.id: PNG for file in files}, *files)
    assert word("file_left_out", name="3.png, 4.png", count=3) in shown
    assert "0.png" not in shown


def test_without_a_model_for_pictures_none_is_fetched() -> None:
    async def talk() -> None:
        async with flowing() as flow:
            await flow.turns.receive(asked("Is that right?", attachments=(png(), Attachment(id="b", name="b.txt"))))
            await flow.idle()
            (text,) = flow.texts("q1")
            assert word("cannot_read", name="shot.png") in text
            assert word("file_not_read", name="b.txt") in text, "the platform has no such file"
            assert not [one for one in flow.model.asked if isinstance(one, Describe)]

    run(talk())


def all_bytes(folder: pathlib.Path) -> bytes:
    return b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())


HANDBOOK = "# Errors\n\n## ERR_CONN_104\n\nRestart the print server and wait two minutes.\n\n## ERR_PAPER_7\n\nFill the tray.\n"


async def test_a_screenshot_finds_its_passage_and_only_words_are_remembered(tmp_path: pathlib.Path) -> None:
    """The whole way: picture, words, search, prompt, citation, history; the question alone would find nothing."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "errors.md").write_text(HANDBOOK)
    prompts: list[Call] = []

    def script(call: Call) -> Reply:
        prompts.append(call)
        if call.images:
            return Reply(text="Error ERR_CONN_104 occurred while printing.")
        return Reply(text="Restart the print server and wait two minutes [ID:0].")

    async with OpenAIServer(script) as server:
        (tmp_path / "citebot.toml").write_text(
            f'[llm]\nbase_url = "{server.base_url}"\nmodel = "writer"\nvision_model = "seer"\ncontext_window = 16384\n'
            '[knowledge_bases.docs]\nreaders = ["*"]\n[[sources]]\nname = "docs"\ntype = "files"\npath = "docs"\n'
        )
        async with open_operations(load_settings(tmp_path / "citebot.toml")) as operations:
            async for _ in operations.run(Sync()):
                pass
            platform = FakePlatform(Server())
            platform.files = {"shot.png": PNG}
            options = replace(OPTIONS, readers_of={"docs": ("*",)}, files=FileLimits(images=True))
            first = asked("What should I do about this?", attachments=(png(),))
            second = asked("And how long?", message="q2")
            async with turning(platform, operations, options, tmp_path) as turns:
                for one in (first, second):
                    await turns.receive(one)
                    await until(lambda: not turns.running(), seconds=30.0)
            (answer,) = platform.server.standing("q1")
            assert "Restart the print server" in answer.text
            assert "errors" in answer.text.lower(), "cited"
            assert turns.meter.tokens["prompt"] > 0
    # Between them the model is asked to put the question into other words, and answers it: that is not believed.
    looked, worded, written, *_ = prompts
    assert "shot.png: Error ERR_CONN_104" in worded.texts[-1]
    assert (looked.body["model"], written.body["model"]) == ("seer", "writer")
    assert looked.images == [f"data:image/png;base64,{base64.b64encode(PNG).decode()}"]
    assert "shot.png:\n\nError ERR_CONN_104 occurred while printing." in written.texts
    assert written.texts[-1] == "What should I do about this?"
    assert not any(call.images for call in prompts[1:])
    kept = await asyncio.to_thread(all_bytes, tmp_path)
    assert base64.b64encode(PNG)[:24] not in kept
    assert b"What should I do about this?" in kept
