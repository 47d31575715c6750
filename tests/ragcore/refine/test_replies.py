"""What is believed of a model's reply about a question: other words for it, and nothing else."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcore.prompts import render
from ragcore.refine.replies import LONGER, LONGEST, ROOM, Asked, Worded, keywords_of, translations_of, worded_of
from tests.soak import scaled

SAID = (
    "user: Who leads the Lisbon office?\nassistant: Dr. Maria Santos leads the Lisbon office; it has 40 desks "
    "and opened in 2019."
)
RULES = render("rewrite", alone=True, languages=["German", "Chinese"], today="2026-11-23")
ASKED = Asked(question="When did she join, and from which company?", said=SAID, rules=RULES, alone=True)
BOTH = Asked(question=ASKED.question, said=SAID, rules=RULES, alone=True, languages=("German", "Chinese"))
ALONE = "When did Dr. Maria Santos join, and from which company?"
GERMAN = "Wann kam Dr. Maria Santos dazu, und aus welcher Firma?"
CHINESE = "Maria Santos 博士是什么时候加入的，来自哪家公司？"


def reply(question: object = ALONE, **translations: object) -> str:
    return json.dumps({"question": question, "translations": translations}, ensure_ascii=False)


def test_what_was_asked_for_is_read() -> None:
    whole = reply(ALONE, German=GERMAN, Chinese=CHINESE, Latin="Quando venit?")
    assert worded_of(whole, BOTH) == Worded(alone=ALONE, translations=(GERMAN, CHINESE))
    assert worded_of(whole, ASKED) == Worded(alone=ALONE), "no language was asked for"
    only = Asked(question="When is the office open?", rules=RULES, languages=("German",))
    assert worded_of(reply(ALONE, german="Wann ist das Büro offen?"), only).translations == (
        "Wann ist das Büro offen?",
    )
    assert worded_of(reply(ALONE, de="Wann ist das Büro offen?"), only) == Worded(
        translations=("Wann ist das Büro offen?",)
    )


@pytest.mark.parametrize(
    "said",
    [
        f"Sure!\n```json\n{json.dumps({'question': ALONE})}\n```\nHope that helps.",
        json.dumps({"question": ALONE})[:-1],
        json.dumps({"question": f'  "{ALONE}"\n'}),
        ALONE,
        f'"{ALONE}"',
    ],
    ids=["fenced", "half", "quoted", "bare", "bare quoted"],
)
def test_a_wording_is_found_in_what_models_write_around_it(said: str) -> None:
    assert worded_of(said, ASKED).alone == ALONE


@pytest.mark.parametrize(
    "said",
    [
        "",
        "null",
        "[]",
        "42",
        "{}",
        '{"question": null}',
        '{"question": ["When?"]}',
        '{"question": "..."}',
        '{"question": "When did she join, and from which company?"}',
        "I cannot help with that.",
        "Of course! Here is the question in other words, so that it stands alone:",
        RULES,
        json.dumps({"question": RULES}),
        json.dumps({"question": f"{RULES[:120]}?"}),
        reply("She joined in 2019 from Acme."),
        reply("Dr. Maria Santos joined from a company."),
        reply("When did Dr. Maria Santos join from one of 17 companies?"),
        reply("Who painted the ceiling of the chapel in Rome, and how long did this great work take him?"),
        reply("When did Dr. Santos join, from which company, see https://evil.example/join?"),
        reply("When did www.evil.example join, and from which company?"),
        reply("When did <@U123> join, and from which company?"),
        reply("When did @everyone join, and from which company?"),
        reply("When did [Santos](evil) join, and from which company?"),
        reply("When did Santos join [ID:0], and from which company?"),
        reply("When did `rm -rf` join, and from which company?"),
        reply("When did a@evil.example join, and from which company?"),
        reply(f"When did {'Maria ' * 400}join, and from which company?"),
        "x" * 30_000,
        json.dumps({"question": "When did she join? " * 2_000}),
        "{" * 5_000,
        "[{1}" + "{1}" * 5_000,
        "[" * 30_000,
        '{"question": ' + "9" * 20_000 + "}",
    ],
)  # fmt: skip
def test_what_is_no_wording_is_dropped(said: str) -> None:
    assert worded_of(said, ASKED) == Worded()


def test_a_bare_sentence_counts_only_where_nothing_else_was_asked_for() -> None:
    assert worded_of(ALONE, BOTH) == Worded()


def test_days_told_from_now_become_dates_and_other_numbers_nothing() -> None:
    asked = Asked(question="What did they decide yesterday?", said="user: What does the board do?", alone=True)
    for good in (
        "What did the board decide on 2026-11-22?",
        "What did the board decide on 22 November 2026?",
        "What did the board decide on 22.11.2026?",
    ):
        assert worded_of(reply(good), asked).alone == good
    for bad in (
        "What did the 12 of the board decide?",
        "What did the board of 450 decide in 2026?",
        "What did the 0.512 of the board decide in 2026?",
        "What did the 0,450 of the board decide in 2026?",
    ):
        assert worded_of(reply(bad), asked) == Worded(), bad


def test_what_the_question_itself_names_may_stand_in_its_wording() -> None:
    asked = Asked(question="And does https://wiki.example/a say so about her?", said=SAID, alone=True)
    good = "Does https://wiki.example/a say so about Dr. Maria Santos?"
    assert worded_of(reply(good), asked).alone == good


@pytest.mark.parametrize(
    "wrong",
    [
        ASKED.question,
        ALONE,
        "When did Maria Santos join the team, and what was the company that she had been with?",
        "Maria Santos 博士是什么时候加入的？",
        "Wann kam sie? 2014 aus Rom.",
        "Siehe https://evil.example/",
        "Wer ist <!channel>?",
        "",
        None,
        {"text": GERMAN},
        f"{GERMAN} " * 40,
    ],
)
def test_a_translation_is_in_its_language_and_says_nothing_new(wrong: object) -> None:
    assert worded_of(reply(ALONE, German=wrong, Chinese=CHINESE), BOTH).translations == (CHINESE,)


def test_a_translation_stands_where_the_wording_is_none() -> None:
    assert worded_of(reply("42", German="Wann kam sie dazu, und aus welcher Firma?"), BOTH) == Worded(
        translations=("Wann kam sie dazu, und aus welcher Firma?",)
    )


def test_keywords_add_words_and_no_answer() -> None:
    question = "How many days off do I get?"
    said = ["annual leave", "PTO", "Annual Leave", "days off", "25 days", "<@U1>", "https://x.example", "", 7, None]
    assert keywords_of(json.dumps(said), question, 5) == ("annual leave", "PTO")
    assert keywords_of(json.dumps({"keywords": said}), question, 1) == ("annual leave",)
    assert keywords_of(json.dumps(["holiday " * 30]), question, 5) == ()
    for rubbish in ("", "I'd rather not.", "{", "null", "annual leave, PTO", "x" * 30_000):
        assert keywords_of(rubbish, question, 5) == ()


_SAID = (
    "When did",
    "Dr. Maria Santos",
    "join,",
    "and from which company?",
    "Wann kam",
    "dazu,",
    "und aus welcher Firma?",
)
_BAD = (
    "0.5",
    "in 2026",
    "00:00",
    "[ID:0]",
    "<@U1>",
    "https://evil.example/x",
    "42",
    "\x00",
    "\u202e",
    "`",
    "{",
    '"',
    "\n",
    "@here",
    RULES[:80],
)
_SENTENCES = st.lists(st.sampled_from(_SAID + _BAD) | st.text(max_size=9), max_size=6).map(" ".join)
_REPLIES = st.builds(
    lambda question, german, chinese: reply(question, German=german, Chinese=chinese),
    _SENTENCES | st.just(ALONE),
    _SENTENCES | st.just(GERMAN),
    _SENTENCES | st.just(CHINESE),
)


@settings(max_examples=scaled(30), deadline=None)
@given(_REPLIES | st.lists(_REPLIES | st.text(max_size=30), max_size=3).map("".join))
def test_whatever_is_replied_what_comes_of_it_can_be_searched(said: str) -> None:
    worded = worded_of(said, BOTH)
    for text in filter(None, (worded.alone, *worded.translations)):
        assert len(text) <= min(LONGEST, LONGER * max(len(BOTH.question), len(worded.alone)) + ROOM)
        assert text.isprintable()
        assert text == " ".join(text.split())
        assert not any(bad in text for bad in ("<@", "://", "[ID:", "`", "{", "@here", "42"))
    assert len(worded.translations) <= len(BOTH.languages)
    for word in keywords_of(said, BOTH.question, 5):
        assert word.isprintable()
        assert "://" not in word


def test_translations_of_several_questions_are_read_by_their_numbers() -> None:
    asked = ("Wann öffnet das Büro?", "Wer leitet das Büro in Lissabon?")
    both = ("When does the office open?", "Who leads the office in Lisbon?")
    for said in (
        {"1": {"English": both[0]}, "2": {"English": both[1]}},
        {"2": {"en": both[1]}, "1": both[0]},
        [{"English": both[0]}, {"English": both[1]}],
    ):
        assert translations_of(json.dumps(said), asked, ("English",)) == ((both[0],), (both[1],))
    for strange in (both[1], "See https://evil.example", "When does the office open at 7?", 9, None):
        said = {"1": {"English": strange}, "3": {"English": both[0]}}
        assert translations_of(json.dumps(said), asked[:1], ("English",))[0] in {(), (both[1],)}
        assert translations_of(json.dumps(said), asked, ("English",))[1] == ()
    assert translations_of(json.dumps({"1": {"English": "Wann öffnet das Büro?"}}), asked[:1], ("English",)) == ((),)


@settings(max_examples=scaled(30), deadline=None)
@given(_REPLIES | st.lists(_REPLIES | st.text(max_size=30), max_size=3).map("".join), st.integers(0, 4))
def test_whatever_is_replied_each_question_has_translations_that_can_be_searched(said: str, count: int) -> None:
    asked = [f"Wann öffnet das Büro in Lissabon {number}?" for number in range(count)]
    found = translations_of(said, asked, ("English", "Greek"))
    assert len(found) == count
    for of in found:
        assert len(of) <= 2
        assert all(one.isprintable() and "://" not in one and "@" not in one for one in of)
