"""Only what gives the kind that is asked for answers: by the day, in dollars, a person, a time of day, this many of these."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.extractive.agents import names_nobody
from ragcore.extractive.contrasts import may_stand_for, says_member
from ragcore.extractive.expectation import Expectation
from ragcore.extractive.measures import is_past_bound, keeps_rate
from ragcore.extractive.times import weekdays
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.types import ScoredChunk, SectionKind
from tests.ragcore.extractive.asking import direct
from tests.ragcore.extractive.test_unanswered import scored

LEAVE = scored("Full-time employees receive 27 days of paid annual leave a year.", title="Leave")
PRICES = scored(
    "| Article | Price GBP | Price EUR |\n| --- | --- | --- |\n| TW-350 | 2180 | 2530 |\n", kind=SectionKind.TABLE
)
REVIEW = scored("Every SEV1 gets a written review within five working days.", title="Incidents")
JURY = scored("Jury service is paid in full for up to ten working days.", title="Leave")
HOUSES = scored("The hens live in three houses. House two is the smallest and holds 180 hens.", title="Hens")
BOARD = scored("The board has five members and is elected for two years.", title="The cooperative")
COWS = scored("Forty-two dairy cows live in the barn. They are milked twice a day, at 5:30 and at 16:30.", title="Cows")
BOXES = scored("Boxes are packed on Friday and handed out at the old station, about 90 a week.", title="Boxes")
CHERRIES = scored("六月可采摘草莓，每公斤4欧元。草莓园比樱桃园早两周开放。", title="采摘")
RELEASE = scored("Migrations are written so that the previous release still works.", title="TideLog")
FEED = scored(
    "| Animal | Feed |\n| --- | --- |\n| Cow | hay and clover silage |\n| Calf | milk |\n", kind=SectionKind.TABLE
)
MEMBRANE = scored("| 名称 | 型号 | 价格（元） |\n| --- | --- | --- |\n| 膜片 | DM-5 | 150 |\n", kind=SectionKind.TABLE)
PASSWORDS = scored("A password has at least 14 characters and does not expire.", title="Passwords")
CALL = scored("At night call the vet, Dr Lang, at 0961 44 70.", title="The vet")


@pytest.mark.parametrize(
    ("chunk", "asked", "answered"),
    [
        (LEAVE, "How many hours a week is full time?", False),
        (LEAVE, "How many days of leave a year do employees receive?", True),
        (LEAVE, "How many days of annual leave do I get?", True),
        (PRICES, "TW-350 price in US dollars", False),
        (PRICES, "TW-350 price in euros", True),
        (REVIEW, "Who has to write the review of a SEV1?", False),
        (REVIEW, "When is the review of a SEV1 written?", True),
        (JURY, "How is jury service paid after the tenth working day?", False),
        (JURY, "How is jury service paid?", True),
        (HOUSES, "How many hens live in house one?", False),
        (HOUSES, "How many hens does house two hold?", True),
        (BOARD, "How many members does the cooperative have?", False),
        (BOARD, "How many members does the board have?", True),
        (BOARD, "number of members on the board", True),
        (COWS, "How much milk does one cow give per day?", False),
        (COWS, "How many cows live in the barn?", True),
        (BOXES, "Until what time are boxes handed out at the old station?", False),
        (BOXES, "When are the boxes packed?", True),
        (CHERRIES, "樱桃采摘多少钱一公斤？", False),
        (CHERRIES, "草莓采摘多少钱一公斤？", True),
        (RELEASE, "When is the next release of TideLog?", False),
        (FEED, "What is the feed of the sheep?", False),
        (FEED, "What is the feed of the cow?", True),
        (FEED, "the clover silage, how is it done?", False),
        (MEMBRANE, "膜片DM-5怎么更换？", False),
        (MEMBRANE, "膜片DM-5多少钱？", True),
        (PASSWORDS, "How many passwords do I need?", False),
        (PASSWORDS, "How many characters has a password?", True),
        (COWS, "Which number do I call at night when a cow is ill?", False),
        (CALL, "Which number do I call for the vet at night?", True),
    ],
)
async def test_a_statement_of_another_kind_is_no_answer(chunk: ScoredChunk, asked: str, answered: bool) -> None:
    assert bool(await direct(asked, [chunk], MiniLMEmbedder())) is answered


MEMBERS = ["monday", "friday", "january", "october", "red", "blue", "two", "nine", "first", "third", "dollars", "euros"]
UNITS = ["second", "minute", "hour", "day", "week", "month", "year"]


@given(st.sampled_from(MEMBERS), st.sampled_from([*MEMBERS, "price", "weekend", "launch"]))
def test_nothing_stands_for_a_member_of_a_class_but_itself(asked: str, said: str) -> None:
    assert may_stand_for(said, asked) is (said == asked)
    assert says_member(asked, f"It says {said}.") is (said == asked)


@pytest.mark.parametrize(("generic", "member"), [("day", "friday"), ("colour", "red"), ("currency", "euro")])
def test_a_member_may_stand_for_what_its_class_is_called(generic: str, member: str) -> None:
    assert may_stand_for(member, generic)


@given(st.integers(1, 500), st.sampled_from(UNITS), st.sampled_from(UNITS), st.sampled_from(["a", "per", "each"]))
def test_a_rate_is_told_by_its_own_unit(count: int, asked: str, said: str, per: str) -> None:
    per_said = "an" if (per, said) == ("a", "hour") else per
    per_asked = "an" if (per, asked) == ("a", "hour") else per
    text = f"The pump takes {count} litres {per_said} {said}."
    assert keeps_rate(f"How many litres {per_asked} {asked} does the pump take?", text) is (asked == said)
    assert keeps_rate("How many litres does the pump take?", text)


@given(st.integers(2, 5000), st.integers(2, 5000))
def test_what_comes_after_a_bound_is_not_told_by_what_holds_up_to_it(asked: int, said: int) -> None:
    question = f"What is paid after {asked} days?"
    assert is_past_bound(question, f"It is paid in full for up to {said} days.") is (asked == said)
    assert not is_past_bound(question, f"It is paid in full for up to {said} days, then by half.")
    assert not is_past_bound(f"What is paid for {asked} days?", f"It is paid in full for up to {said} days.")


@pytest.mark.parametrize(
    ("text", "nobody"),
    [
        ("Boxes are packed on Friday morning.", True),
        ("Examples: boxes, jars; May leave the farm: on Friday.", True),
        ("Volunteers pack the boxes.", False),
        ("The boxes are packed by Maren Holt.", False),
        ("Boxes: packing@example.org", False),
    ],
)
def test_days_and_columns_are_nobody(text: str, nobody: bool) -> None:
    assert names_nobody("Who packs the boxes?", text) is nobody


@pytest.mark.parametrize("name", ["Øyvind Ñandú", "Élodie", "Иван Петров", "Ann Lee", "Seán O'Neill", "李梅"])
async def test_a_name_is_one_in_any_script(name: str) -> None:
    said = scored(f"The head of finance is {name}.", title="People")
    assert await direct("Who is the head of finance?", [said], None)
    assert not await direct("Who is the head of finance?", [scored("The head of finance is away.")], None)


@pytest.mark.parametrize(
    ("by", "told"), [("by IBM", True), ("by Siemens", True), ("on Friday", False), ("well", False)]
)
async def test_which_company_wants_its_name(by: str, told: bool) -> None:
    said = scored(f"The meters are sold {by}.", title="Sales")
    assert bool(await direct("Which company sells the meters?", [said], None)) is told


WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@given(
    st.lists(st.sampled_from(["Frıday", "mon", "ſun", "FRİ", "Fri", "sunday", "-", " - ", "to", "周一"]), max_size=8)
)
def test_letters_that_only_pass_for_others_name_no_day(parts: list[str]) -> None:
    assert weekdays(" ".join(parts)) <= {*WEEK, "weekend", "weekday"}
    assert weekdays("Frıday - monday") == weekdays("mon-ſun") == frozenset()


@pytest.mark.parametrize(
    ("asked", "said", "is_given"),
    [
        ("How long does printing take?", "The 3D printer stands in room B.", False),
        ("How long does it take?", "Since the 1990s it has been popular.", False),
        ("How long does it take?", "It takes 90 s.", True),
        ("When does the gate open?", "Jan opens the gate.", False),
        ("When does the gate open?", "The gate opens on 3 Jan.", True),
        ("When is the gate open?", "The gate is open Apr - Oct.", True),
    ],
)
def test_what_only_looks_like_a_time_is_none(asked: str, said: str, is_given: bool) -> None:
    assert Expectation(asked).given(said) is is_given


@pytest.mark.parametrize("figures", ["1,", "0.5,", "12 ", "1.1"])
@pytest.mark.parametrize("asked", ["How long does it take?", "What is the rate?", "How many weeks are there?"])
def test_a_line_of_figures_is_read_in_one_go(asked: str, figures: str) -> None:
    begun = time.process_time()
    Expectation(asked).given(figures * 10_000)
    assert time.process_time() - begun < 5.0, "it takes minutes where each figure is tried from each of its digits"
