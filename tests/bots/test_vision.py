"""The model for pictures: which one the settings name, what it is asked, and what the doctor finds of it."""

import base64
import pathlib
import struct
import zlib

import pytest

from bots.app import open_operations
from bots.app.parts import vision_model_of
from bots.cli.forms import report_form
from bots.doctor import check_vision_model
from bots.requests import Check, Describe, Diagnose, Sync
from bots.settings import load_settings
from bots.turn.options import turn_options
from ragcore.errors import ConfigError
from ragcore.reports import SyncReport
from ragcore.tokens import offline_tokenizer
from ragcore.types import Image, Message
from tests.fakes.openai_server import Failure, OpenAIServer, Reply
from tests.ragcore.parsing.makers import lines, pdf

IMAGE = Image(media_type="image/png", data="AA==")


def settings_of(folder: pathlib.Path, llm: str = "") -> pathlib.Path:
    path = folder / "citebot.toml"
    path.write_text(llm)
    return path


async def test_a_task_of_its_own_words_the_call(tmp_path: pathlib.Path) -> None:
    async with OpenAIServer() as server:
        llm = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "writer"\nmax_tokens = 300\nvision_model = "seer"\n'
        for task, expected in (("", ("seer", 300, 0.1)), ("model = 'better'\nmax_tokens = 99", ("better", 99, 0.1))):
            settings = load_settings(settings_of(tmp_path, f"{llm}[llm.tasks.vision]\n{task}\n"))
            model = vision_model_of(settings, offline_tokenizer())
            assert model is not None
            await model.complete([Message(role="user", text="?", images=(IMAGE,))], task="vision")
            body = server.requests[-1].body
            assert (body["model"], body["max_tokens"], body["temperature"]) == expected
            assert (model.name, model.max_tokens) == expected[:2], "what the fit leaves for the words"
            assert turn_options(settings).files.images
            await model.close()


@pytest.mark.parametrize("llm", ["", '[llm]\nmodel = "m"\n'])
async def test_without_one_pictures_are_not_read(tmp_path: pathlib.Path, llm: str) -> None:
    settings = load_settings(settings_of(tmp_path, llm))
    assert vision_model_of(settings, offline_tokenizer()) is None
    assert not turn_options(settings).files.images
    async with open_operations(settings) as operations:
        with pytest.raises(ConfigError, match="vision_model"):
            async for _ in operations.run(Describe(image=IMAGE)):
                pass
        if not llm:
            checks = [one async for one in operations.run(Diagnose()) if isinstance(one, Check)]
            assert "vision model" not in [one.name for one in checks]


async def test_the_doctor_shows_it_a_picture(tmp_path: pathlib.Path) -> None:
    async with OpenAIServer() as server:
        text = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "writer"\nvision_model = "seer"\n'
        model = vision_model_of(load_settings(settings_of(tmp_path, text)), offline_tokenizer())
        assert model is not None
        server.queue(Reply(text="ok"), Failure(status=400, message="seer takes no image_url"))
        well, ill = await check_vision_model(model), await check_vision_model(model)
        await model.close()
        assert (well.state, ill.state) == ("ok", "fail")
        assert "no image_url" in ill.found
        assert "vision_model under [llm]" in ill.mend
        (url,) = server.requests[0].images
    png = base64.b64decode(url.removeprefix("data:image/png;base64,"))
    pieces, at = {}, 8
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert png[at + 8 + length : at + 12 + length] == struct.pack(">I", zlib.crc32(kind + data))
        pieces[kind], at = data, at + 12 + length
    assert list(pieces) == [b"IHDR", b"IDAT", b"IEND"]
    assert struct.unpack(">II", pieces[b"IHDR"][:8]) == (64, 64)
    assert zlib.decompress(pieces[b"IDAT"]) == (b"\0" + b"\xff" * 64) * 64


async def test_what_describing_takes_is_told_before_and_after_and_nothing_is_asked_twice(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / "files").mkdir()
    caption = lines(["Figure 1: The harbour of Brightwater."], top=85)
    (tmp_path / "files" / "harbour.pdf").write_bytes(pdf([caption], image=True))
    async with OpenAIServer(lambda request: Reply(text="A harbour with two ships.")) as server:
        llm = f'[llm]\nbase_url = "{server.base_url}"\nmodel = "writer"\nvision_model = "seer"\n'
        sources = '[[sources]]\nname = "files"\ntype = "files"\npath = "files"\n'
        async with open_operations(load_settings(settings_of(tmp_path, llm + sources))) as operations:

            async def synced(*, dry_run: bool = False, full: bool = False) -> SyncReport:
                request = Sync(dry_run=dry_run, full=full)
                (report,) = [one async for one in operations.run(request) if isinstance(one, SyncReport)]
                return report

            foreseen = await synced(dry_run=True)
            assert (foreseen.added, foreseen.usage.calls, len(server.requests)) == (1, 1, 0)
            assert foreseen.usage.prompt_tokens > 1_000
            done = await synced()
            assert (done.added, done.usage.calls, done.cached, len(server.requests)) == (1, 1, 0, 1)
            assert done.usage.prompt_tokens > 0
            form = report_form(done)["pictures"]
            assert form == {"calls": 1, "prompt_tokens": done.usage.prompt_tokens, "cached": 0} | {
                "completion_tokens": done.usage.completion_tokens
            }
            again = await synced()
            assert (again.unchanged, again.usage.calls, again.cached, len(server.requests)) == (1, 0, 0, 1)
            assert "pictures" not in report_form(again)
