"""Names of the same thing have one key, names of others have not, and a question's names are found in it."""

import re
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragcore.graph.names import (
    LONGEST,
    MOST_ASKED,
    MOST_WORDS,
    Text,
    is_short_of,
    key_of,
    longest_first,
    names_asked,
    parted,
    stands_in,
)
from tests.ragcore.nasty import NASTY

WORDS = st.lists(
    st.sampled_from(
        ["Acme", "Ann", "Fernsehturm", "Brightwater", "café", "Ärzte", "GPT", "Bank", "Москва", "文", "档"]
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize(
    "names",
    [
        ("Acme Company", "acme companies", "The ACME Company", "Acme  company.", "ACME-Company", "Ａｃｍｅ Company"),
        ("Acme", "Acme, Inc.", "Acme's", "ACME Ltd", "acme GmbH"),
        ("Data Protection Officer", "data protection officers", "Data-Protection Officer"),
        ("café Zürich", "Café Zurich", "Cafe\u0301 Zürich"),
        ("WHO", "W.H.O.", "the WHO"),
        ("O'Brien", "O’Brien", "O'Brien's"),
        ("box", "Boxes"),
        ("licence class", "Licence Classes"),
        ("北京大学", "北京 大学", "北京大学。"),
    ],
)
def test_one_key_for_names_of_one_thing(names: tuple[str, ...]) -> None:
    assert len({key_of(name) for name in names}) == 1
    assert key_of(names[0])


@pytest.mark.parametrize(
    "pair",
    [("Universe", "University"), ("GPT-3", "GPT-4"), ("Maine", "Main"), ("Ann Lee", "Lee Ann"), ("Acme", "Acme Bank")],
)
def test_other_keys_for_names_of_others(pair: tuple[str, str]) -> None:
    assert key_of(pair[0]) != key_of(pair[1])


@pytest.mark.parametrize(
    "name", ["", " ", "who", "it", "of the", "1999", "x", "京", "!?", "a" * (LONGEST + 1), "w " * 30]
)
def test_what_is_no_name_has_no_key(name: str) -> None:
    assert key_of(name) == ""


@given(words=WORDS, before=NASTY, after=NASTY)
def test_a_name_stands_where_its_words_do(words: list[str], before: str, after: str) -> None:
    name = " ".join(words)
    assume(len(words) > 1 or len(name) > 1)
    assert stands_in(key_of(name), f"{before} – {name} – {after}")
    assert (
        not stands_in(key_of(name), " ".join(reversed(words)))
        or words == words[::-1]
        or len(set(words)) == 1
        or (key_of(name) in key_of(" ".join(reversed(words))))
    )


@given(NASTY)
def test_any_text_has_a_key_of_its_own_words_or_none(text: str) -> None:
    key = key_of(text)
    assert not key or (stands_in(key, text) and key_of(key.upper()) in (key, ""))
    assert len(key.split(" ")) <= MOST_WORDS


def test_a_pronoun_is_no_acronym() -> None:
    assert stands_in(key_of("WHO"), "The WHO said so.")
    assert not stands_in(key_of("WHO"), "The man who said so.")


@pytest.mark.parametrize(
    ("short", "long", "is_short"),
    [
        ("WHO", "World Health Organization", True),
        ("BoA", "Bank of America", True),
        ("BA", "Bank of America", True),
        ("W.H.O.", "World Health Organization", True),
        ("MOUs", "Memorandum of Understanding", True),
        ("世卫组织", "世界卫生组织", True),
        ("北大", "北京大学", True),
        ("北京", "北京大学", False),
        ("who", "World Health Organization", False),
        ("WHA", "World Health Organization", False),
        ("A", "Acme", False),
        ("Acme", "Acme Company", False),
        ("", "", False),
    ],
)
def test_what_is_a_short_form(short: str, long: str, is_short: bool) -> None:
    assert is_short_of(short, long) is is_short
    if is_short:
        assert parted(f"{long} ({short})") == (long, short)
        assert parted(f"{short} （{long}）") == (short, long)
    else:
        assert parted(f"{long} ({short})") == (f"{long} ({short})", "")


def test_short_forms_are_told_in_brackets() -> None:
    text = Text(
        "The World Health\nOrganization (“WHO”, since 1948) and the Bank of America (BoA) met. 世界卫生组织（简称“世卫组织”）"
    )
    assert list(text.short_forms("world health organization")) == []
    assert list(text.short_forms("Bank of America")) == [("BoA", "Bank of America")]
    assert list(text.short_forms("世界卫生组织")) == [("世卫组织", "世界卫生组织")]
    assert list(Text("WHO (World Health Organization)").short_forms("WHO")) == [("WHO", "World Health Organization")]
    assert list(Text("Acme (the best)").short_forms("Acme")) == []


@given(text=NASTY, name=st.one_of(NASTY, WORDS.map(" ".join)))
def test_short_forms_are_short_forms(text: str, name: str) -> None:
    assume(name.strip())
    for short, long in Text(f"{text} {name} ({text})").short_forms(name):
        assert is_short_of(short, long)
        assert name in (short, long)


# What the brackets behind a name hold, as plain as it is slow.
IN_BRACKETS = re.compile(r"^(.+?)\s*[(（]\s*([^()（）]+?)\s*[)）]$")
BESIDE = r"\s*[(（]\s*(?:以下简称|简称|以下簡稱|簡稱)?\s*[:：]?\s*[\"“”'‘’「]?([^()（）\n]{2,60}?)[\"“”'‘’」]?\s*[)）]"
BRACKETED = st.lists(
    st.sampled_from(
        [
            *"(（)） \n\u3000:“”A",
            "  ",
            "简称",
            "WHO",
            "WTO",
            "World Health Organization",
            "世界卫生组织",
            "世卫组织",
            "x" * 60,
        ]
    ),
    max_size=9,
).map("".join)


@given(before=BRACKETED, inside=BRACKETED)
def test_what_stands_in_brackets_is_what_one_expression_for_it_tells(before: str, inside: str) -> None:
    for name in (before, f"{before}({inside})", f"World Health Organization{before}WHO{inside}"):
        found = IN_BRACKETS.match(name)
        told = bool(found) and (is_short_of(found[2], found[1]) or is_short_of(found[1], found[2]))
        assert parted(name) == ((found[1], found[2]) if found and told else (name, ""))
    for name in ("WHO", "世界卫生组织"):
        text = f"{name}{before} {name} ({inside}) "
        beside = [found[1].strip() for found in re.finditer(name + BESIDE, text, re.IGNORECASE)]
        plainly = [(other, name) if is_short_of(other, name) else (name, other) for other in beside]
        assert list(Text(text).short_forms(name)) == [pair for pair in plainly if is_short_of(*pair)]


@pytest.mark.parametrize("unit", [" ", "(", "A", "a (", " （", "“", ") ", "\n", "WHO (", "WHO "])
def test_no_brackets_take_long(unit: str) -> None:
    many = unit * (20_000 // len(unit))
    began = time.thread_time()
    for name in (f"WHO{many}x", f"WHO{many})", f"{many}(WHO)"):
        parted(name)
    for text in (f"WHO ({many}x", f"WHO{many}(x) "):
        list(Text(text).short_forms("WHO"))
    assert time.thread_time() - began < 0.5


@given(
    words=WORDS, before=st.sampled_from(["", "Who leads the ", "谁领导"]), after=st.sampled_from(["?", " now?", "吗"])
)
def test_a_name_in_a_question_is_found(words: list[str], before: str, after: str) -> None:
    name = " ".join(words)
    assume(len(name) > 1)
    assert key_of(name) in names_asked(f"{before}{name}{after}")


@given(NASTY)
def test_a_question_is_looked_at_so_far(question: str) -> None:
    asked = names_asked(question)
    assert len(asked) <= MOST_ASKED * MOST_WORDS
    for key, spans in asked.items():
        assert spans
        assert all(0 <= start < end <= MOST_ASKED for start, end in spans)
        assert len(key.split(" ")) == spans[0][1] - spans[0][0]


def test_a_question_word_is_no_organisation() -> None:
    assert "who" not in names_asked("Who leads it?")
    assert "who" in names_asked("Who leads the WHO?")
    assert "who" not in names_asked("WHO LEADS IT?")


def test_of_names_within_names_the_longest_count() -> None:
    asked = names_asked("Did Acme buy the Acme Trading Company from Acme?")
    assert longest_first(asked, ["acme", "acme trading company", "company"], 6) == ["acme trading company", "acme"]
    asked = names_asked("Who leads the Acme Trading Company?")
    assert longest_first(asked, ["acme", "acme trading company", "company"], 6) == ["acme trading company"]
    assert longest_first(asked, ["acme", "company", "lead"], 2) == ["lead", "acme"]


@given(question=NASTY, data=st.data())
def test_chosen_names_are_known_and_few(question: str, data: st.DataObject) -> None:
    asked = names_asked(question)
    known = data.draw(st.lists(st.sampled_from(sorted(asked)), unique=True)) if asked else []
    chosen = longest_first(asked, known, 3)
    assert len(chosen) == len(set(chosen)) <= 3
    assert set(chosen) <= set(known)
    assert bool(chosen) == bool(known)
