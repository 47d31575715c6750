"""What is answered, what is left alone, and what is refused; commands; languages."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.platform import Asker, Attachment, Incoming, Reach
from bots.turn.commands import Command, command_of, stands_alone
from bots.turn.options import Rate, Respond, TurnOptions, person, place
from bots.turn.receiving.gate import LONGEST_QUESTION, Drop, Pass, Refuse, Verdict, is_question, judge
from bots.turn.receiving.rates import Rates
from bots.words.sentences import _SENTENCES, LANGUAGES, WORDS, age, language_for, word
from ragcore.types import ConversationKey
from tests.fakes.platform import asked

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def judged(incoming: Incoming, respond: Respond = "mention") -> Verdict:
    return judge(incoming, respond=respond, now=NOW, edit_within=timedelta(minutes=1), late_after=timedelta(minutes=15))


@pytest.mark.parametrize("reach", list(Reach))
@pytest.mark.parametrize("respond", ["mention", "all", "questions", "off"])
def test_who_is_answered_where(reach: Reach, respond: Respond) -> None:
    verdict = judged(asked("How many days?", reach=reach), respond)
    if reach is Reach.DIRECT or respond in {"all", "questions"}:
        assert verdict == Pass()
    elif respond == "off":
        assert verdict == Refuse("not_here") if reach is Reach.COMMAND else isinstance(verdict, Drop)
    else:
        assert isinstance(verdict, Drop) == (reach is Reach.CHANNEL)


def test_a_channel_of_questions_hears_no_chatter() -> None:
    assert isinstance(judged(asked("Good morning all", reach=Reach.CHANNEL), "questions"), Drop)
    assert judged(asked("Good morning all"), "questions") == Pass(), "it is addressed to us"


def test_bots_empty_words_and_late_edits_are_left_alone() -> None:
    assert isinstance(judged(replace(asked("Why?"), asker=Asker(id="B", is_bot=True))), Drop)
    assert isinstance(judged(asked(" \n ")), Drop)
    assert judged(asked("", attachments=(Attachment(id="1", name="a.md"),))) == Pass()
    assert judged(asked("", reach=Reach.COMMAND, command="help")) == Pass()
    assert isinstance(judged(asked("", reach=Reach.COMMAND, command="ask")), Drop)
    for seconds, kept in ((59, True), (61, False)):
        edited = asked("Why?", sent_at=NOW - timedelta(seconds=seconds), edited_at=NOW)
        assert (judged(edited) == Pass()) == kept
    assert judged(asked("x" * (LONGEST_QUESTION + 1))) == Refuse("too_long")


def test_what_waited_too_long_is_told_so_where_it_was_meant_for_us() -> None:
    for minutes, kept in ((14, True), (16, False)):
        sent_at = NOW - timedelta(minutes=minutes)
        assert judged(asked("Why?", sent_at=sent_at)) == (Pass() if kept else Refuse("late"))
    assert isinstance(judged(asked("Why?", sent_at=sent_at, reach=Reach.CHANNEL), "all"), Drop)


@pytest.mark.parametrize("respond", ["mention", "all", "questions", "off"])
@pytest.mark.parametrize("minutes", [0, 16, 1_440])
def test_who_opens_a_chat_is_greeted_whatever_channels_hear_and_however_late(respond: Respond, minutes: int) -> None:
    opened = asked("", reach=Reach.COMMAND, command="start", sent_at=NOW - timedelta(minutes=minutes))
    assert judged(opened, respond) == Pass()


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("How many days of leave do I have", True),
        ("so, is that right?", True),
        ("年假可以结转几天", True),
        ("年假可以结转吗", True),
        ("这个怎么用", True),
        ("ما هي الإجازة؟", True),
        ("Wo steht das", True),
        ("Ship it.", False),
        ("see https://x.example/?q=1", False),
        ("try `a ? b : c`", False),
        ("好的，谢谢", False),
        ("Whatever.", False),
    ],
)
def test_questions(text: str, asks: bool) -> None:
    assert is_question(text) == asks


@given(
    # Eighths of a second, which floats hold exactly.
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 160).map(lambda n: n / 8)), max_size=30),
    st.integers(1, 4),
)
def test_rates_never_let_more_through_and_tell_the_wait(asking: list[tuple[str, float]], questions: int) -> None:
    rates, now = Rates(Rate(questions=questions, seconds=30.0)), 0.0
    went: dict[str, list[float]] = {"a": [], "b": []}
    for key, after in asking:
        now += after
        wait = rates.take(key, now)
        recent = [moment for moment in went[key] if moment > now - 30.0]
        assert (wait == 0) == (len(recent) < questions)
        if wait == 0:
            went[key].append(now)
        else:
            assert len([moment for moment in went[key] if moment > now + wait - 30.0]) < questions


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("reset", Command("reset")),
        ("/Help", Command("help")),
        ("Sources.", Command("sources")),
        ("重置", Command("reset")),
        ("search  parental leave", Command("search", "parental leave")),
        ("搜索年假", Command("search", "年假")),
        ("reset my password", None),
        ("help me find it", None),
        ("research leave", None),
        ("search", None),
    ],
)
def test_commands_are_the_whole_text(text: str, command: Command | None) -> None:
    assert command_of(asked(text), text) == command
    assert command_of(asked(text, reach=Reach.CHANNEL), text) is None


def test_slash_commands() -> None:
    assert command_of(asked("reset", reach=Reach.COMMAND, command="ask"), "reset") is None
    assert command_of(asked(" leave ", reach=Reach.COMMAND, command="search"), " leave ") == Command("search", "leave")


def test_a_question_by_command_stands_alone_unless_it_replies_to_an_answer() -> None:
    by_command = asked("Why?", reach=Reach.COMMAND, command="ask", private=True)
    assert stands_alone(by_command)
    assert not stands_alone(replace(by_command, goes_on="ab12cd34"))
    for reach in (Reach.MENTION, Reach.DIRECT, Reach.THREAD):
        assert not stands_alone(asked("Why?", reach=reach, private=reach is Reach.DIRECT))


def test_every_language_has_every_sentence_with_the_same_blanks() -> None:
    for language in LANGUAGES:
        assert set(_SENTENCES[language]) == set(WORDS)
        for key in WORDS:
            blanks = [
                sorted(part.split("}")[0] for part in _SENTENCES[one][key].split("{")[1:]) for one in ("en", language)
            ]
            assert blanks[0] == blanks[1], (language, key)
    assert word("help", "zh-TW") == word("help", "zh") != word("help")
    assert word("late", "xx") == word("late")
    assert word("unsent", why="{reference}") == "An answer could not be sent: {reference}."


@pytest.mark.parametrize(
    ("text", "told", "fixed", "language"),
    [
        ("How many days?", "", "", "en"),
        ("How many days?", "de", "", "de"),
        ("How many days?", "zh-CN", "", "en"),
        ("年假多少天？", "en-US", "", "zh"),
        ("", "zh", "", "zh"),
        ("", "", "", "en"),
        ("年假多少天？", "en", "de", "de"),
        ("كم يوما؟", "en", "", "ar"),
        ("Wie viele Urlaubstage kann ich übertragen?", "en-US", "", "de"),
        ("Wie viele Urlaubstage kann ich übertragen?", "zh", "", "de"),
        ("Hallo!", "en", "", "de"),
        ("hilfe", "", "", "de"),
        ("/suche Urlaub", "en", "", "de"),
        ("ERR_CONN_104", "de", "", "de"),
        ("Quanti giorni di ferie sono rimasti?", "es", "", "es"),
    ],
)
def test_the_language_is_the_askers(text: str, told: str, fixed: str, language: str) -> None:
    assert language_for(text, told, fixed) == language


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_help_names_is_done_and_answered_in_its_language(language: str) -> None:
    prompts = [word("help_prompt", language), word("sources_prompt", language)]
    named = [one.replace("…", "TW-350") for one in re.findall(r"`([^`]+)`", word("help", language))]
    assert {command.name for one in named if (command := command_of(asked(one), one))} == {
        "search", "sources", "reset", "help",
    }  # fmt: skip
    assert set(prompts) <= set(named)
    assert {language_for(one, "") for one in named} == {language}


def test_ages_are_told_in_their_largest_unit() -> None:
    assert [age(seconds) for seconds in (5, 60, 7_300, 200_000)] == ["a moment", "1 min", "2 h", "2 d"]


def test_places_and_people_are_named_as_the_settings_name_them() -> None:
    slack = asked("?", conversation=ConversationKey(platform="slack", workspace="T1", channel="C1", thread="1.2"))
    assert (place(slack.conversation), person(slack)) == ("slack:T1/C1", "slack:T1/@U1")
    elsewhere = replace(slack, asker=Asker(id="U1", workspace="T2"))
    assert person(elsewhere) == "slack:T2/@U1"
    telegram = asked("?", conversation=ConversationKey(platform="telegram", workspace="", channel="-100"))
    assert (place(telegram.conversation), person(telegram)) == ("telegram:-100", "telegram:@U1")
    assert person(asked("?")) == "discord:@U1"
    assert TurnOptions(admins=("discord:@U1",)).is_admin(asked("?"))
