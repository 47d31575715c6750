"""How sources stand, as the operations tell it: what failed by name, what pauses, and how old what is cited is."""

import io
import json
import pathlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from bots.ages import with_ages
from bots.app import open_operations
from bots.cli.forms import state_form
from bots.cli.listing import show_states
from bots.rendering.markdown import document_markdown
from bots.rendering.parse import parse_answer
from bots.rendering.sources import source_inlines
from bots.requests import Ask, ListSources, SourceState, Sync
from ragcore.errors import SourceAuthError
from ragcore.reports import Fault
from ragcore.stores.sources import SourceStates
from ragcore.types import Answer
from tests.bots.handbook import told
from tests.bots.made_source import Made, made_settings, made_type

LEAVE = "Up to five unused leave days may be carried over into the next year."


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    return made_type(monkeypatch)


def shown(state: SourceState) -> str:
    out = io.StringIO()
    show_states([state], Console(file=out, width=200, highlight=False, markup=False))
    return out.getvalue()


async def test_a_failed_document_is_named_until_it_succeeds(tmp_path: pathlib.Path, made: Made) -> None:
    memory = made.source("docs", a=LEAVE, b="Valve b is open.")
    memory.broken = {"b"}
    settings = made_settings(tmp_path, "docs", schedule="15m", more='[knowledge_bases.kb]\nreaders = ["*"]\n')
    async with open_operations(settings, mending=False, warming=False) as operations:
        await told(operations, Sync())
        (state,) = await told(operations, ListSources())
        assert isinstance(state, SourceState)
        assert "docs:b: it is broken → mend it (next try in 59 min)" in shown(state)
        assert "1 document could not be read" in shown(state)
        form = json.loads(json.dumps(state_form(state)))
        assert [(one["id"], one["reason"]) for one in form["failed"]] == [("docs:b", "it is broken")]
        (theirs,) = await told(operations, ListSources(audience=frozenset({"*"})))
        assert isinstance(theirs, SourceState)
        assert theirs.failed == (), "readers are not told the names of documents"
        memory.broken = set()
        await told(operations, Sync())
        (state,) = await told(operations, ListSources())
        assert isinstance(state, SourceState)
        assert (state.failed, state.last_error) == ((), "")


async def test_a_source_that_pauses_says_so(tmp_path: pathlib.Path, made: Made) -> None:
    memory = made.source("docs", a=LEAVE)
    settings = made_settings(tmp_path, "docs", schedule="15m")
    async with open_operations(settings, mending=False, warming=False) as operations:
        await told(operations, Sync())
        (state,) = await told(operations, ListSources())
        assert isinstance(state, SourceState)
        assert state.next_run is not None
        assert "a moment ago" in shown(state)
        assert "in 14 min" in shown(state) or "in 15 min" in shown(state)
        memory.breaks_after, memory.error = 0, SourceAuthError("the token has expired", mend="renew it")
        await told(operations, Sync())
        (state,) = await told(operations, ListSources())
        assert isinstance(state, SourceState)
        assert (state.is_paused, state.next_run, state.fault) == (True, None, Fault.AUTH)
        assert "paused" in shown(state)
        assert "the token has expired; renew it" in shown(state)


@pytest.mark.parametrize(("ago", "remark"), [(44, ""), (190, "last read 3 h ago")])
async def test_a_cited_source_that_missed_three_runs_shows_its_age(
    tmp_path: pathlib.Path, made: Made, ago: int, remark: str
) -> None:
    made.source("docs", leave=LEAVE)
    settings = made_settings(tmp_path, "docs", schedule="15m")
    async with open_operations(settings, mending=False, warming=False) as operations:
        await told(operations, Sync())
        states = SourceStates(operations.database)
        state = await states.get("docs")
        await states.put(replace(state, last_success_at=datetime.now(UTC) - timedelta(minutes=ago)))
        answer = (await told(operations, Ask(question="How many unused leave days may be carried over?")))[-1]
        assert isinstance(answer, Answer)
        document = with_ages(parse_answer(answer), "en")
        assert [source.remark for source in document.sources] == [remark]
        line = "".join(getattr(one, "text", "") for one in source_inlines(document.sources[0]))
        assert line.endswith(f" · {remark}") == bool(remark)
        assert ("Leave, line 1" + (f" · {remark}" if remark else "") + "\n") in document_markdown(document)
