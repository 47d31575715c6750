"""What `[turns]` and `[[channels]]` say holds from the settings to the answer."""

import asyncio
import pathlib
from dataclasses import replace
from datetime import timedelta

import pytest

from bots.platform import Incoming, Reach
from bots.settings import load_settings
from bots.turn.options import TurnOptions, turn_options
from bots.words.sentences import word
from ragcore.types import ConversationKey
from tests.bots.turn.flows import final, flowing, virtual_now
from tests.fakes.platform import asked
from tests.fakes.virtual import run

SOURCE = (
    '[knowledge_bases.handbook]\nreaders = ["*"]\n'
    '[[sources]]\nname = "handbook"\ntype = "files"\npath = "."\nknowledge_base = "handbook"\n'
)


def options_of(folder: pathlib.Path, settings: str) -> TurnOptions:
    """Return what a file with these settings asks for."""
    (folder / "citebot.toml").write_text(settings + SOURCE, "utf-8")
    return turn_options(load_settings(folder / "citebot.toml"))


@pytest.mark.parametrize(("settings", "minutes"), [("", 15), ("[turns]\ncatch_up = 3\n", 3)])
def test_how_late_a_question_is_still_answered(tmp_path: pathlib.Path, settings: str, minutes: int) -> None:
    async def talk() -> None:
        async with flowing(options=options_of(tmp_path, settings)) as flow:
            for message, age in (("q1", minutes - 0.5), ("q2", minutes + 0.5)):
                sent_at = virtual_now() - timedelta(minutes=age)
                await flow.turns.receive(asked("Why?", message=message, channel=message, sent_at=sent_at))
            await flow.idle()
            assert flow.texts("q1") == [final("Why?")]
            (told,) = flow.texts("q2")
            assert told.startswith(word("late"))

    run(talk())


@pytest.mark.parametrize(("name", "same"), [("user_limit", "asker"), ("channel_limit", "channel")])
def test_how_often_is_answered(tmp_path: pathlib.Path, name: str, same: str) -> None:
    async def talk() -> None:
        async with flowing(options=options_of(tmp_path, f"[turns]\n{name} = 2\n")) as flow:
            for number in range(3):
                asker, channel = ("U1", f"C{number}") if same == "asker" else (f"U{number}", "C1")
                await flow.turns.receive(asked("Why?", message=f"q{number}", asker=asker, channel=channel))
                await asyncio.sleep(5.0)
            await flow.idle()
            assert [flow.texts(f"q{number}") for number in (0, 1)] == [[final("Why?")]] * 2
            assert flow.texts("q2")[0].startswith(word(name, seconds=50))  # type: ignore[arg-type]

    run(talk())


CHANNELS = {"11": "all", "12": "questions", "13": "off", "14": "mention"}


def said(text: str, channel: str, reach: Reach = Reach.CHANNEL) -> Incoming:
    where = ConversationKey(platform="discord", workspace="1", channel=channel)
    return asked(text, message=f"{channel} {text}", conversation=where, reach=reach)


def test_what_a_channel_hears_is_set_by_its_id(tmp_path: pathlib.Path) -> None:
    rules = (f'[[channels]]\nid = "discord:1/{number}"\nrespond = "{rule}"\n' for number, rule in CHANNELS.items())

    async def talk() -> None:
        async with flowing(options=options_of(tmp_path, "".join(rules))) as flow:
            heard: dict[str, list[bool]] = {}
            for number, rule in (*CHANNELS.items(), ("15", "not named")):
                texts = ("Good morning.", "How many days?")
                heard[rule] = [await flow.turns.receive(said(text, number)) for text in texts]
                mentioned = await flow.turns.receive(said("Why?", number, Reach.MENTION))
                direct = await flow.turns.receive(replace(said("And how?", number, Reach.DIRECT), private=True))
                assert (mentioned, direct) == (rule != "off", True), rule
            assert heard == {
                "all": [True, True],
                "questions": [False, True],
                "off": [False, False],
                "mention": [False, False],
                "not named": [False, False],
            }

    run(talk())
