"""What is said of replies that can't be used."""

import pathlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.enrich.making import worded
from ragcore.enrich.options import EnrichOptions, MetadataField
from ragcore.enrich.rubbish import kind_of
from ragcore.prompts import render
from ragcore.rules_back import without_rules
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


@given(written=st.text("abc, 年\n", max_size=60), after=st.booleans())
def test_what_is_given_back_of_the_rules_is_left_out_and_nothing_else(written: str, after: bool) -> None:
    rules = render("questions", count=2)
    assert without_rules(written, rules) == written
    told = [line.strip("- ") for line in rules.splitlines() if len(line) > 50]
    for given_back in (rules, *told, told[-1][:30]):
        if not after and given_back == told[-1][:30]:  # only an end is a beginning that was cut
            continue
        both = f"{written}\n{given_back}" if after else f"{given_back}\n{written}"
        left = without_rules(both, rules)
        assert written.strip() in left
        assert not any(line[:30] in left for line in told)


@pytest.mark.parametrize("template", ["keywords", "questions"])
async def test_a_prompt_that_comes_back_is_no_keyword_and_no_question(tmp_path: pathlib.Path, template: str) -> None:
    options = EnrichOptions(auto_keywords=2) if template == "keywords" else EnrichOptions(auto_questions=2)
    # Words of the prompt in the document are no reason to take its sentences for something about it.
    texts = {"leave": "# Leave\n\nThe passage on how long parental leave lasts: 14 weeks, ask at most five words."}
    async with opened(tmp_path) as library:
        await fill(library, texts)
        report = await run(library, SayingModel(lambda told, material: f"Sure!\n{told}"), options)
        assert report.chunks == 0
        assert "it gave the prompt back" in report.failed[0].reason
        for each in await library.registry.chunks_of(["s:leave"]):
            assert (each.keywords, each.questions) == ((), ())


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
