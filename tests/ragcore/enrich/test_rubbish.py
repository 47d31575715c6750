"""What is said of replies that can't be used."""

import pathlib

import pytest

from ragcore.enrich.making import worded
from ragcore.enrich.options import EnrichOptions, MetadataField
from ragcore.enrich.rubbish import kind_of
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened
from tests.ragcore.enrich.test_enrich import TEXTS, run

RULES = "You read a passage.\nName the keywords that somebody would search it by, at most three."
AGAIN = "; it is asked again at the next sync"


@pytest.mark.parametrize(
    ("reply", "was_cut", "kind"),
    [
        (" \n", False, "it wrote nothing"),
        ("I'm sorry, I can't help with that.", False, "it declined"),
        ("As an AI, I have no opinion.", True, "it declined"),
        ("抱歉，我无法回答。", False, "it declined"),
        (f"Sure! {RULES}", False, "it gave the prompt back"),
        ('{"year": 20', True, "it was cut at max_tokens"),
        ("I cannotation " * 3, False, "no JSON"),
        ("Sorry" + " and so on" * 60, False, "no JSON"),
    ],
    ids=["empty", "refusal", "as-an-ai", "chinese", "prompt", "cut", "other-word", "long"],
)
def test_the_kind_is_told_plainly(reply: str, was_cut: bool, kind: str) -> None:
    assert kind_of(reply, RULES, "no JSON", was_cut=was_cut) == kind


def test_settings_stand_together_that_lack_for_one_reason() -> None:
    bad = f"it can't be used (it declined){AGAIN}"
    found = worded(
        {("auto_keywords", bad): 2, ("graph", bad): 1, ("auto_questions", "it is too long"): 3}, [("m", bad)]
    )
    assert found == (
        "auto_keywords (2 chunks), graph (1 chunk), m: it can't be used (it declined); "
        f"auto_questions (3 chunks): it is too long{AGAIN}"
    )


async def test_each_step_that_fails_is_named_by_its_setting(tmp_path: pathlib.Path) -> None:
    """Prose where words were asked for is read as such: the others name what they waited for."""
    year = MetadataField(name="year", description="the year")
    options = EnrichOptions(auto_keywords=2, auto_questions=1, graph=True, metadata=(year,))
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        report = await run(library, SayingModel(lambda rules, material: "Certainly."), options)
        declined = await run(library, SayingModel(lambda rules, material: "I cannot do that."), options, identity="b")
    leave = next(one for one in report.failed if one.document_id == "s:leave")
    assert leave.chunks == 2
    for setting in ("auto_keywords (2 chunks)", "auto_questions (2 chunks)", "graph (2 chunks)", "metadata: "):
        assert setting in leave.reason
    assert "JSON" in leave.reason
    assert (report.documents, report.chunks) == (0, 0)
    assert {one.reason.partition(": ")[2] for one in declined.failed} == {
        f"what the model wrote can't be used (it declined){AGAIN}"
    }
