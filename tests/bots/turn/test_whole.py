"""The whole of a reply that stands in one message: written down exactly, kept as long as it may be, and forgotten."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings

from bots.platform import Button, View
from bots.rendering.tree import Document, SourceLine, StepLine, Steps
from bots.turn.claims import PAGES_KEPT, Claims
from bots.turn.claims.claim import Claim, Outcome
from bots.turn.claims.whole import Whole, whole_from_json, whole_to_json
from ragcore.stores.database import Database
from tests.bots.rendering.documents import documents
from tests.bots.turn.helpers import HERE, aged, claimed
from tests.soak import scaled

CHANGED = datetime(2026, 3, 14, tzinfo=UTC)
DATED = Document(
    blocks=(),
    sources=(SourceLine(number=1, title="Leave", place="", url="", updated_at=CHANGED),),
    steps=Steps(title="Steps (1)", lines=(StepLine(key="plan:1:0", words="Planning", state="failed"),)),
)


def whole(document: Document = DATED) -> Whole:
    view = View(
        document=document,
        reference="0123abcd",
        buttons=(Button.FEEDBACK, Button.SHARE),
        prompts=("And then?",),
        language="de",
    )
    return Whole(view=view, knowledge_bases=("handbook", "wiki"))


@given(documents)
@settings(max_examples=scaled(60), deadline=None)
def test_what_is_written_down_is_read_again(document: Document) -> None:
    assert whole_from_json(whole_to_json(whole(document))) == whole(document)


def test_what_another_version_wrote_otherwise_is_none() -> None:
    written = whole_to_json(whole())
    assert whole_from_json(written) == whole()
    assert whole_from_json("") is None
    for other in (written.replace('"SourceLine"', '"Nothing"'), written.replace('"place"', '"name"'), "[]", "{}", "{"):
        assert whole_from_json(other) is None


async def kept(claims: Claims, key: str = "a") -> Claim:
    claim = await claimed(claims, key)
    await claims.keep(claim, whole())
    return claim


async def test_it_goes_with_the_conversation(here: Claims) -> None:
    claim = await kept(here)
    await here.finish(claim, Outcome.ANSWERED)
    assert await here.whole_of(claim.reference) == whole()
    await here.forget(HERE)
    assert await here.whole_of(claim.reference) is None


async def test_it_goes_with_an_answer_that_is_withdrawn(here: Claims) -> None:
    claim = await kept(here)
    await here.finish(claim, Outcome.ANSWERED)
    await here.withdraw(claim.reference)
    assert await here.whole_of(claim.reference) is None


@pytest.mark.parametrize("forgets", [False, True])
async def test_where_nothing_is_remembered_it_stays_for_an_hour(
    databases: tuple[Database, ...], *, forgets: bool
) -> None:
    forgetful = Claims(databases[0], days=0)
    claim, young = await kept(forgetful, "a"), await kept(forgetful, "b")
    for one in (claim, young):
        await forgetful.finish(one, Outcome.ANSWERED)
    await aged(databases[0], claim, PAGES_KEPT + timedelta(minutes=1))
    assert await forgetful.whole_of(claim.reference) == whole()
    await forgetful.sweep()
    assert await forgetful.whole_of(claim.reference) is None
    assert await forgetful.whole_of(young.reference) == whole()
    if forgets:
        await forgetful.forget(HERE)
        assert await forgetful.whole_of(young.reference) is None
