"""What gives the kind asked for in everyday words: who does it, at nine, on Tuesday of Mon-Fri, for 95 a night, in kilos."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.extractive.agents import names_nobody
from ragcore.extractive.contrasts import says_member
from ragcore.extractive.counting import has_sign_of
from ragcore.extractive.expectation import Expectation
from ragcore.extractive.measures import keeps_rate
from ragcore.extractive.times import weekdays
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.types import ScoredChunk, SectionKind
from tests.ragcore.extractive.asking import direct
from tests.ragcore.extractive.test_unanswered import scored

MEALS = scored("Breakfast is served at 8, lunch at half past twelve and dinner at 18.", title="Meals")
BANK = scored("The blood bank is open Mon-Fri 8-16 and closed at the weekend.", title="Blood bank")
OFFICE = scored("The office is open Monday to Friday from 9 to 5.", title="Office")
ROOM = scored("A single room costs 95 a night on top of the insurance.", title="Rooms")
PHONES = scored("Call 112 in an emergency. The ward's phone is 4471.", title="Phone")
GATE = scored("The caretaker locks the gate at 5pm.", title="Gate")
ALARM = scored("The tuner on duty resets the alarm.", title="Alarm")
CHOIR = scored("Bilal Haddad teaches chemistry. The choir is led by O'Neill.", title="Staff")
LOCKERS = scored("The lockers were painted by hand in 2019 and cleaned by the end of term.", title="Lockers")
INVOICES = scored("Invoices are paid by the 15th, by bank transfer.", title="Invoices")
INSPECTION = scored("The annual inspection of the lift takes place in May.", title="Lift")
SCHOOL = scored("The number of pupils rose to 412 this year.", title="School")
MUSIC = scored("There are twenty-four pupils in the choir.", title="Music")
SACKS = scored("Potatoes come in sacks of 25 kg.", title="Vegetables")
BATTERY = scored("Reboots take about 90 s. The battery lasts 11 h.", title="Manual")
BACKUPS = scored("Backups run nightly at 2am; restores take one workday.", title="Backups")
DEADLINE = scored("Registration closes on the 15th.", title="Registration")
PARKING = scored("Parking is allowed for two hours in front of the school.", title="Parking")
PLANS = scored(
    "| Plan | Price per month |\n| --- | --- |\n| Basic | 9 USD |\n| Team | 29 USD |\n",
    title="Plans",
    kind=SectionKind.TABLE,
)
MEAL_TIMES = scored("| Meal | Time |\n| --- | --- |\n| Breakfast | 7:30 |\n", title="Meals", kind=SectionKind.TABLE)
GRADES = scored("| Grade | Pupils |\n| --- | --- |\n| 5 | 88 |\n| 6 | 91 |\n", title="Grades", kind=SectionKind.TABLE)
FLOORS = scored("The 2nd floor houses the laboratory.", title="Floors")
DOSE = scored("The dose was increased from 2 to 4 drops in week 3.", title="Dose")
PARCELS = scored("Packages up to 5 kg are sent for 6.90.", title="Shipping")
ZIMMER = scored("Ein Einzelzimmer kostet 95 € pro Nacht. Das Frühstück gibt es ab halb acht.", title="Zimmer")
KISTEN = scored("Die Kisten werden am Freitag gepackt.", title="Kisten")
LADEN = scored("Die Rückgabe ist innerhalb von 14 Tagen möglich.", title="Laden")
NOTAUFNAHME = scored("Die Telefonnummer der Notaufnahme ist 4455-112.", title="Telefon")
TOR = scored("门卫负责锁门，周一至周五下午六点半锁门。", title="学校")
ZIMMERPREIS = scored("单人间每晚320块，双人间每晚450块。", title="房价")


@pytest.mark.parametrize(
    ("chunk", "asked", "answered"),
    [
        (MEALS, "What time is breakfast?", True),
        (MEALS, "When is lunch served?", True),
        (MEAL_TIMES, "When is breakfast?", True),
        (MEAL_TIMES, "When is dinner?", False),
        (BANK, "When is the blood bank open?", True),
        (BANK, "When is the blood bank open on Tuesday?", True),
        (BANK, "On which days is the blood bank open?", True),
        (OFFICE, "What time does the office open on Wednesday?", True),
        (OFFICE, "When is the office open on Saturday?", False),
        (OFFICE, "When is the office open at the weekend?", False),
        (ROOM, "What does a single room cost per night?", True),
        (ROOM, "How much is a single room per week?", False),
        (PARKING, "How much is parking?", False),
        (PARKING, "How long is parking allowed?", True),
        (PHONES, "What is the ward's phone number?", True),
        (GATE, "Who locks the gate?", True),
        (GATE, "What time is the gate locked?", True),
        (ALARM, "Who resets the alarm?", True),
        (CHOIR, "Who leads the choir?", True),
        (LOCKERS, "Who painted the lockers?", False),
        (LOCKERS, "Who cleans the lockers?", False),
        (INVOICES, "Who pays invoices?", False),
        (INVOICES, "When are invoices paid?", True),
        (INSPECTION, "Who inspects the lift?", False),
        (SCHOOL, "How many pupils are there?", True),
        (MUSIC, "How many pupils are in the choir?", True),
        (SACKS, "How many kilos are in a sack of potatoes?", True),
        (BATTERY, "How long does the battery last?", True),
        (BATTERY, "How many hours does the battery last?", True),
        (BACKUPS, "What time do backups run?", True),
        (BACKUPS, "How often do backups run?", True),
        (BACKUPS, "How long does a restore take?", True),
        (DEADLINE, "When does registration close?", True),
        (PLANS, "How much does Team cost in dollars?", True),
        (PLANS, "How much is Basic per year?", False),
        (FLOORS, "What is on the second floor?", True),
        (FLOORS, "What is on the third floor?", False),
        (DOSE, "What time is the dose given?", False),
        (PARCELS, "When are packages sent?", False),
        (ZIMMER, "Wie teuer ist ein Einzelzimmer?", True),
        (ZIMMER, "Ab wann gibt es Frühstück?", True),
        (KISTEN, "Wer packt die Kisten?", False),
        (KISTEN, "Wann werden die Kisten gepackt?", True),
        (LADEN, "Bis wann ist die Rückgabe möglich?", True),
        (NOTAUFNAHME, "Welche Telefonnummer hat die Notaufnahme?", True),
        (TOR, "几点锁门？", True),
        (ZIMMERPREIS, "单人间多少钱一晚？", True),
        (ZIMMERPREIS, "单人间多少钱一月？", False),
    ],
)
async def test_everyday_words_give_the_kind(chunk: ScoredChunk, asked: str, answered: bool) -> None:
    assert bool(await direct(asked, [chunk], MiniLMEmbedder())) is answered


ORDER = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


@given(st.integers(0, 6), st.integers(0, 6), st.sampled_from(["-", "–", " to ", " until "]), st.booleans())
def test_a_range_of_days_says_each_day_of_it_and_no_other(first: int, last: int, to: str, short: bool) -> None:
    names = [day[:3] if short else day for day in ORDER]
    within = {(first + i) % 7 for i in range((last - first) % 7 + 1)}
    text = f"Open {names[first]}{to}{names[last]} 9-17."
    assert weekdays(text) - {"weekend", "weekday"} == {ORDER[day].lower() for day in within}
    assert says_member("weekend", text) is bool(within & {5, 6})


@pytest.mark.parametrize("text", ["Mo-Fr 8-12", "周一至周五", "montags bis freitags", "Mon.-Fri."])
def test_days_are_read_in_other_forms(text: str) -> None:
    assert "wednesday" in weekdays(text)
    assert "sunday" not in weekdays(text)


@pytest.mark.parametrize("text", ["The sun is out.", "so to do", "It is so to die."])
def test_words_that_look_like_days_are_none(text: str) -> None:
    assert not weekdays(text)


@given(st.integers(1, 12), st.sampled_from(["am", " pm", " o'clock", " Uhr", ":30"]))
def test_every_clock_time_answers_what_time(hour: int, said: str) -> None:
    assert Expectation("What time does it start?").given(f"It starts at {hour}{said}.")


@given(st.integers(1, 24), st.sampled_from(["euros", "people", "%", "kg", "drops"]))
def test_an_amount_is_no_clock_time(count: int, of: str) -> None:
    assert not Expectation("What time does it start?").given(f"It starts at {count} {of}.")


@pytest.mark.parametrize(("word", "sign"), [("kilos", "kg"), ("hours", "h"), ("minutes", "min"), ("megabytes", "MB")])
def test_a_unit_is_said_by_its_sign_behind_a_number(word: str, sign: str) -> None:
    assert has_sign_of(word, f"It has 25 {sign}.")
    assert not has_sign_of(word, f"It has 25 {sign}ex.")
    assert not has_sign_of(word, f"Its {sign} is 25.")


@given(st.sampled_from("晚天周月年"), st.sampled_from("晚周月年"))
def test_a_chinese_rate_is_told_by_its_own_unit(asked: str, said: str) -> None:
    same = asked == said or {asked, said} == {"天", "晚"}
    assert keeps_rate(f"停车多少钱一{asked}？", f"停车每{said}20元。") is (asked == said)
    assert same or not keeps_rate(f"停车每{asked}多少钱？", f"停车每{said}20元。")


@given(
    st.sampled_from(["glazier", "lifeguard", "verger", "stoker"]),
    st.sampled_from(["locks", "must lock", "carefully locks"]),
)
def test_whoever_does_it_is_somebody(doer: str, does: str) -> None:
    assert not names_nobody("Who locks the gate?", f"The {doer} {does} the gate.")
    assert not names_nobody("Who locks the gate?", f"The gate is locked by the {doer}.")
    assert names_nobody("Who locks the gate?", f"The gate is locked by noon; ask for the key of the {doer}'s box.")
