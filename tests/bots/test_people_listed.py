"""What people replied, as the operator lists and removes it."""

import io
import pathlib
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.console import Console

from bots.app import open_operations
from bots.app.operations import Operations
from bots.cli.forms import reply_form
from bots.cli.people import show_replies
from bots.requests import Ask, DropReply, Found, ListPeople, PersonReply, Request, Search, Sync
from bots.settings import load_settings
from bots.turn.people.ledger import KEPT, Ledger
from bots.turn.people.values import Ask as Asked
from bots.turn.people.values import Owners
from ragcore.errors import ConfigError
from ragcore.types import Answer
from tests.bots.owners import QUESTION, REPLY
from tests.fakes.platform import asked

pytestmark = pytest.mark.usefixtures("no_settings")
OWNERS = "discord:7/8"


async def answers(operations: Operations, request: Request) -> list[object]:
    return [event async for event in operations.run(request)]


def shown(replies: list[PersonReply], *, removed: bool = False) -> str:
    console = Console(file=io.StringIO(), width=100)
    show_replies(replies, console, removed=removed)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


async def test_a_reply_is_listed_found_and_removed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "citebot.toml").write_text(f'[knowledge_bases.handbook]\nowners = ["{OWNERS}"]\n')
    async with open_operations(load_settings(tmp_path / "citebot.toml")) as operations:
        ledger = Ledger(operations.database)
        incoming = asked(QUESTION)
        ask = Asked(
            reference="0123abcd",
            knowledge_base="handbook",
            asker="discord:@U1",
            question=QUESTION,
            incoming=incoming,
            asked_at=datetime.now(UTC),
        )
        assert await ledger.ask(ask, Owners(place=OWNERS), limit=1) == "asked"
        assert await ledger.reply(ask, replace(incoming, text=REPLY, message="r1"), "Ada", "discord:@A")
        (reply,) = await ledger.all_replies()
        (listed,) = await answers(operations, ListPeople())
        assert isinstance(listed, PersonReply)
        assert not listed.is_kept
        assert "not kept" in shown([listed])
        await ledger.keep(reply.id, "discord:@A", kept=True)
        await answers(operations, Sync(sources=("people-handbook",)))
        (found,) = await answers(operations, Search(query="bicycles"))
        assert isinstance(found, Found)
        assert [one.chunk.document_id for one in found.chunks] == [f"people-handbook:{reply.id}"]
        (kept,) = await answers(operations, ListPeople())
        assert isinstance(kept, PersonReply)
        told = shown([kept])
        assert all(part in told for part in ("document", "Ada", QUESTION, REPLY, reply.id))
        assert reply_form(kept)["kept"] is True
        answer = (await answers(operations, Ask(question="How high is the tower of Babel?")))[-1]
        assert isinstance(answer, Answer)
        assert [note for note in answer.notes if OWNERS in note], "a terminal has no button, and tells where one is"
        (dropped,) = await answers(operations, DropReply(reply=reply.id))
        assert isinstance(dropped, PersonReply)
        assert "no document any longer" in shown([dropped], removed=True)
        (found,) = await answers(operations, Search(query="bicycles"))
        assert isinstance(found, Found)
        assert found.chunks == ()
        with pytest.raises(ConfigError, match="there is no reply 'zzz'"):
            await answers(operations, DropReply(reply="zzz"))
        assert "owners" in shown([])


async def test_a_year_later_only_what_is_kept_is_left(tmp_path: pathlib.Path) -> None:
    (tmp_path / "citebot.toml").write_text("")
    async with open_operations(load_settings(tmp_path / "citebot.toml")) as operations:
        ledger, now = Ledger(operations.database), datetime.now(UTC)
        for number in range(2):
            incoming = asked(QUESTION, message=f"q{number}")
            ask = Asked(
                reference=f"0123abc{number}",
                knowledge_base="handbook",
                asker="discord:@U1",
                question=QUESTION,
                incoming=incoming,
                asked_at=now,
            )
            await ledger.ask(ask, Owners(place=OWNERS), limit=9)
            for text in ("kept", "not kept"):
                said = replace(incoming, text=text, message=f"{text} {number}")
                await ledger.reply(ask, said, "Ada", "discord:@A")
        for reply in await ledger.all_replies():
            if reply.text == "kept":
                await ledger.keep(reply.id, "discord:@A", kept=True)
        assert await ledger.sweep(now=now + KEPT / 2) == 0
        assert await ledger.sweep(now=now + KEPT * 2) == 2
        assert [reply.text for reply in await ledger.all_replies()] == ["kept", "kept"]
        assert await ledger.ask_of("0123abc0") is None
