"""What plainly answers is told from what is only near to the question, and that from what is of another matter."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.citations.markers import strip
from ragcore.extractive import ExtractOptions, extract
from ragcore.extractive.form import lists, questions
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.types import ScoredChunk, SectionKind
from tests.ragcore.extractive.asking import direct, nearest
from tests.ragcore.extractive.test_unanswered import scored

CAR = scored(
    "Mileage is paid at 45 pence a mile. Your insurance must cover business use.",
    title="Travel and expenses",
    headings=("Using your own car",),
)
PASSWORDS = scored(
    "A password has at least 14 characters and does not expire. Two-factor sign-in is required for everyone.",
    title="VPN and accounts",
    headings=("Passwords",),
)
METERS = scored("| Article | Price GBP |\n| --- | --- |\n| TW-120 | 145 |\n| TW-200 | 890 |\n", kind=SectionKind.TABLE)
HENS = scored("House two is the smallest and holds 180 hens. A hen lays about 260 eggs in a year.", headings=("Hens",))
LADEN = scored(
    "Unser größter Lieferant ist die Bäckerei Wimmer, die jeden Morgen vor 7 Uhr liefert. "
    "Käse kommt von der Sennerei Au.",
    title="Hofladen",
    headings=("Lieferanten",),
)
LAPTOP = scored("IT sends the laptop so that it arrives three working days before you start.", title="Your first weeks")


@pytest.mark.parametrize(
    ("chunk", "asked", "answered"),
    [
        (CAR, "Is there a company car policy?", False),
        (CAR, "Is there a company car?", False),
        (CAR, "What must my insurance cover?", True),
        (PASSWORDS, "How do I reset my VPN password?", False),
        (PASSWORDS, "What is the minimum length of a password?", True),
        (PASSWORDS, "How long must a password be?", True),
        (METERS, "What does a calibration of the TW-120 cost?", False),
        (METERS, "What is the price of the TW-120?", True),
        (HENS, "How many eggs may each member take home?", False),
        (HENS, "How many eggs does a hen lay?", True),
        (LADEN, "Wann liefert die Sennerei?", False),
        (LADEN, "Wann liefert die Bäckerei?", True),
        (LAPTOP, "When is the replacement laptop sent?", False),
        (LAPTOP, "When is the laptop sent?", True),
    ],
)
async def test_a_word_that_no_statement_holds_makes_it_another_question(
    chunk: ScoredChunk, asked: str, answered: bool
) -> None:
    embedder = MiniLMEmbedder()
    assert bool(await direct(asked, [chunk], embedder)) is answered
    assert bool(await nearest(asked, [chunk], embedder)) is not answered


THINGS = ["copper", "kettle", "ladder", "violin", "anchor", "candle", "feather", "saddle", "bucket", "thimble"]
OTHERS = ["zeppelin", "marmalade", "obelisk"]


@given(st.integers(2, 10), st.integers(0, 3), st.randoms(use_true_random=False))
async def test_as_many_words_as_a_long_question_spares_may_lack_and_no_more(
    count: int, lacking: int, random: Random
) -> None:
    lacking = min(lacking, count)
    things = random.sample(THINGS, count)
    asked = [*things[lacking:], *OTHERS[:lacking]]
    random.shuffle(asked)
    said = f"Here lie {' and '.join(things)}."
    found = await extract(f"Where do the {' and the '.join(asked)} lie?", [scored(said)], None)
    telling = count + 1  # "lie" as well
    assert found.direct is (lacking <= telling // 5)
    # What is lacking is rare, and so weighs more than what is held.
    assert not found.text or (telling - lacking) / telling >= 0.4
    assert found.text or lacking > 1


@pytest.mark.parametrize("particular", ["Birmingham", "4711", "AX-88"])
async def test_no_question_is_so_long_that_a_name_or_a_number_may_lack(particular: str) -> None:
    said = scored("The copper kettle, the ladder, the violin and the anchor are kept in the northern shed.")
    question = "Where in the shed of {} are the copper kettle, the ladder, the violin and the anchor kept?"
    assert await direct(question.format("gardeners"), [said], None)
    assert await nearest(question.format(particular), [said], None)


async def test_what_is_of_another_matter_is_not_near() -> None:
    for question in ("When does the canteen open?", "Who won the match?", "Which shed is the biggest?"):
        found = await extract(question, [CAR, PASSWORDS, HENS], MiniLMEmbedder())
        assert found.text == ""
        assert not found.direct


async def test_what_to_do_about_a_code_needs_the_code_alone() -> None:
    table = "| Message | What to do |\n| --- | --- |\n| ERR_CONN_104 | renew the profile |\n"
    chunk = scored(table, kind=SectionKind.TABLE)
    assert "renew" in await direct("What should I do when my client greets me with ERR_CONN_104?", [chunk], None)
    assert not await direct("What should I do when my client greets me with ERR_CONN_105?", [chunk], None)


async def test_what_only_its_title_has_of_the_question_is_not_near() -> None:
    for said, near in (("Pruning begins in March.", False), ("The orchard is pruned in March.", True)):
        chunk = scored(said, title="Orchard trees")
        assert bool(await nearest("Which orchard trees are for sale?", [chunk], None)) is near


async def test_a_comparison_alone_is_no_matter() -> None:
    trees = scored("Most of them were planted in 1998.", title="Orchard")
    assert not (await extract("Is the orchard bigger than the field?", [trees], None)).text


SENTENCES = st.lists(st.sampled_from([*THINGS, *OTHERS, "the", "It", "is"]), min_size=4, max_size=9)


@given(st.lists(SENTENCES, min_size=1, max_size=9), SENTENCES)
async def test_at_most_two_sentences_are_shown_as_near_each_with_its_source(
    texts: list[list[str]], asked: list[str]
) -> None:
    chunk = scored(" ".join(" ".join(words).capitalize() + "." for words in texts))
    found = await extract(f"How much {' '.join(asked)}?", [chunk], None)
    if found.text and not found.direct:
        assert 1 <= len(re.findall(r"\[ID:0\]", found.text)) <= ExtractOptions().sentences_near
        quoted = [one.strip() for one in re.split(r"(?<=\.)\s*", strip(found.text)) if one.strip()]
        assert all(" ".join(one.split()) in chunk.chunk.text for one in quoted)


async def test_an_amount_or_a_reason_that_is_waited_for_must_be_given() -> None:
    keys = "The keys of the mill are kept in the office.\n\nThe office is locked because of the tools."
    assert await nearest("Why are the keys of the mill kept in the office?", [scored(keys)], None)
    assert await direct("Why is the office locked?", [scored(keys)], None)
    assert await nearest("How long are the keys of the mill kept in the office?", [scored(keys)], None)


BOX = scored("The box holds a pH probe, a cable and three buffers (pH 4.01, 7.00 and 10.01).")
MEMBRANE = scored("| 备件 | 价格（元） |\n| --- | --- |\n| 溶解氧膜片 | 150 |\n", kind=SectionKind.TABLE)


@pytest.mark.parametrize(
    ("said", "asked", "answered"),
    [
        (BOX, "How long is the cable of the pH probe?", False),
        (scored("The cable of the pH probe measures 3 m."), "How long is the cable of the pH probe?", True),
        (scored("The voucher of the shop is valid for a year."), "How long is the voucher of the shop valid?", True),
        (scored("The voucher of the shop is valid until May."), "How long is the voucher of the shop valid?", True),
        (scored("Gutscheine sind drei Jahre gültig."), "Wie lange sind Gutscheine gültig?", True),
        (scored("The display shows READY after 45 seconds."), "How long until the display shows READY?", True),
        (MEMBRANE, "溶解氧膜片多长时间要换一次？", False),
        (scored("溶解氧膜片每半年更换一次。"), "溶解氧膜片多长时间更换一次？", True),
        (scored("婚假须在一年内使用。"), "婚假须在多久内使用？", True),
    ],
)
async def test_how_long_is_answered_by_a_span_and_not_by_any_number(
    said: ScoredChunk, asked: str, answered: bool
) -> None:
    assert bool(await direct(asked, [said], None)) is answered


OWNER = scored("Contracts leave the company only when approved by the data owner, and never on paper.")
LEAD = scored("Call the platform lead, Idris Okafor, for every outage.")
BUFFERS = scored("Throw used calibration buffer away. The oxygen probe is ordered separately.", headings=("Box",))
PIG = scored("The pig is fed 6 kg of barley.")
BOARD = scored("All members of the board meet in the great hall of the old mill on 12 May.")
WALL = scored("TideLog dashboards are on the wall.")
EXPIRY = scored("Every password that people have chosen for themselves expires after about 90 days.")
SENSOR = scored("The reason for the delay of the launch is the late sensor of the company that supplies it.")
FRUIT = scored("六月可采摘草莓，每公斤4欧元。草莓园比樱桃园早两周开放。")


@pytest.mark.parametrize(
    ("chunk", "asked", "answered"),
    [
        (LEAD, "Who is the platform lead?", True),
        (OWNER, "Who is the data owner?", False),
        (BUFFERS, "How do I calibrate the oxygen probe?", False),
        (BUFFERS, "How do I order the oxygen probe?", True),
        (FRUIT, "樱桃每公斤多少钱？", False),
        (FRUIT, "草莓每公斤多少钱？", True),
        (LAPTOP, "When is the laptop encrypted?", False),
        (PIG, "When is the pig fed?", False),
        (PIG, "How much barley is the pig fed?", True),
        (BOARD, "How many members has the board?", False),
        (BOARD, "When do the members of the board meet?", True),
        (SENSOR, "Which company supplies the late sensor?", False),
        (SENSOR, "What is the reason for the delay of the launch?", True),
        (EXPIRY, "How many of my passwords expire?", False),
        (EXPIRY, "How long until my passwords expire?", True),
        # The parts of a compound don't make a question long.
        (WALL, "Where are the TideLog dashboards of the visitors?", False),
        (WALL, "Where are the TideLog dashboards?", True),
    ],
)
async def test_who_and_how_are_answered_by_names_and_what_is_done(
    chunk: ScoredChunk, asked: str, answered: bool
) -> None:
    for embedder in (None, MiniLMEmbedder()):
        assert bool(await direct(asked, [chunk], embedder)) is answered


async def test_each_question_of_two_must_be_answered() -> None:
    said = scored("The mill opens at 8:00. The yard has two gates.")
    assert await direct("When does the mill open, and which gates has the yard?", [said], None)
    assert await nearest("When does the mill open, and who mends the roof?", [said], None)


@pytest.mark.parametrize(
    ("asked", "parts"),
    [
        ("When does it launch, and why was the launch moved?", 2),
        ("How long is paternity leave and is it paid?", 2),
        ("How much do bread and butter cost?", 1),
        ("Wann ist es und wo findet es statt?", 2),
    ],
)
def test_questions_that_are_asked_at_once_are_told_apart(asked: str, parts: int) -> None:
    assert len(questions(asked)) == parts


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("asked", ["What parental leave is there?", "Which kinds of parental leave are there?"])
async def test_a_question_for_a_list_gets_the_rows_of_the_table_in_their_order(asked: str, rows: int) -> None:
    names = ["Maternity", "Paternity", "Shared parental", "Adoption", "Foster", "Surrogacy"][:rows]
    table = "| Leave | Length |\n| --- | --- |\n" + "".join(
        f"| {name} | {n} weeks |\n" for n, name in enumerate(names, 2)
    )
    chunk = scored(table, kind=SectionKind.TABLE, title="Leave policy", headings=("Parental leave",))
    for embedder in (None, MiniLMEmbedder()):
        answer = await direct(asked, [chunk], embedder)
        assert re.findall(r"^(.+?) – Length: \d weeks \[ID:0\]\.$", answer, re.MULTILINE) == names[:4]
        assert answer.endswith("…") is (rows > 4), "that more follow is told"


@pytest.mark.parametrize(
    ("asked", "a_list"),
    [
        ("What parental leave is there?", True),
        ("Welche Lieferanten gibt es?", True),
        ("有哪些备件？", True),
        ("What is the price of the leave?", False),
        ("Is there parental leave?", False),
    ],
)
def test_which_questions_ask_for_a_list(asked: str, a_list: bool) -> None:
    assert lists(asked) is a_list
