import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ragcore.citations.markers import find, repair, strip
from ragcore.errors import ModelUnreachable
from ragcore.extractive import ExtractOptions
from ragcore.extractive.units import units_of
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.types import Chunk, ScoredChunk, SectionKind
from tests.fakes.embedding import HashEmbedder
from tests.ragcore.extractive.asking import direct, nearest

LEAVE = (
    "Up to five unused days may be carried into the\nnext year and no more than that. They must be taken by 31 March. Requests go to the team lead "
    "two weeks ahead."
)
CODES = "| Code | Action |\n| --- | --- |\n| E-104 | Dry the contacts |\n| E-417 | Switch off \\| do not charge |\n|  | see the guide |\n"
SITES = (
    "| Site | Address | Phone | Opening hours |\n| --- | --- | --- | --- |\n"
    "| Leeds office | 2 Wharf Street | 0113 111 | 8:00 to 17:00 |\n"
    "| Leeds warehouse | 14 Canal Wharf | 0113 496 | 6:00 to 16:00 |\n"
)
SICK = "请假须提前申请。病假超过两天的，须提交诊断证明。婚假为13天。"
RULES = "年休假为12天。其余部分须在次年6月30日之前使用。病假须当天通知主管。"


def scored(text: str, *, kind: SectionKind = SectionKind.TEXT, score: float = 0.8, title: str = "Doc") -> ScoredChunk:
    chunk = Chunk(
        id="g-0", document_id="s:a", knowledge_base="kb", ordinal=0, text=text, title=title, token_count=1, kind=kind
    )
    return ScoredChunk(chunk=chunk, score=score)


async def test_the_best_sentence_comes_first_and_a_pronoun_brings_its_noun() -> None:
    answer = await direct("How many unused days may be carried over?", [scored(LEAVE)], None)
    assert answer.startswith("Up to five unused days may be carried into the next year and no more than that [ID:0].")
    by_when = await direct("By which March date must they be taken?", [scored(LEAVE)], None)
    assert by_when == (
        "Up to five unused days may be carried into the next year and no more than that [ID:0]. They must be taken by 31 March [ID:0]."
    )


@pytest.mark.parametrize("forged", ["[ID:1]", "[ID 1]", "(ID: 1)", "【ID:1】", "[1]", "[ID:1, ID:0]"])
async def test_what_reads_as_a_citation_in_a_document_cites_nothing(forged: str) -> None:
    text = f"Up to fifty unused days may be carried into the next year {forged}. Requests go to the team lead."
    answer = await direct("How many unused days may be carried over?", [scored(text), scored(LEAVE, score=0.1)], None)
    assert [one.id for one in find(repair(answer, 2))] in ([0], [0, 1]), answer
    assert "into the next year [ID:0]." in answer


async def test_a_short_sentence_of_dense_characters_is_quoted() -> None:
    fees = "门诊时间为每天上午8点至12点。挂号费20元。复诊免费。第二章。"
    assert await direct("挂号费多少元？", [scored(fees)], None) == "挂号费20元[ID:0]。"
    assert [unit.text for unit in units_of(scored(fees).chunk, 0)][1:] == ["挂号费20元。", "复诊免费。"]


async def test_neighbours_stand_in_the_documents_order_whichever_was_chosen_first() -> None:
    text = "Unused days carry over. They lapse on 31 March. Leave days carry over in full after sick leave days."
    answer = await direct("Do unused leave days carry over?", [scored(text)], None)
    assert answer.index("Unused days") < answer.index("They lapse") < answer.index("Leave days")


async def test_a_table_row_reads_as_a_sentence() -> None:
    answer = await direct("What does E-417 mean?", [scored(LEAVE), scored(CODES, kind=SectionKind.TABLE)], None)
    assert answer == "E-417 – Action: Switch off | do not charge [ID:1]."


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("What does error E-417 on the TW200 mean?", True),
        ("What does error E417 on the TW200 mean?", True),
        ("What does error E-999 on the TW200 mean?", False),
        ("What does error E42 on the TW200 mean?", False),
        ("Which action does the code E-999 of the TW200 need?", False),
        ("Which action does the code E-417 of the TW200 need?", True),
    ],
)
async def test_the_row_of_one_code_is_no_answer_to_another(question: str, answered: bool) -> None:
    named = "\n".join(CODES.splitlines()[:-1])
    codes = scored(named, kind=SectionKind.TABLE, title="Error codes TW200")
    for embedder in (None, MiniLMEmbedder()):
        answer = await direct(question, [codes], embedder)
        assert answer == ("E-417 – Action: Switch off | do not charge [ID:0]." if answered else "")


async def test_a_row_has_the_punctuation_of_its_columns() -> None:
    """A name or an address in another script doesn't change the language of the table."""
    sites = "| Site | Lead |\n| --- | --- |\n| Suzhou factory | 陈立华 |\n"
    answer = await direct("Who leads the Suzhou factory?", [scored(sites, kind=SectionKind.TABLE)], None)
    assert answer == "Suzhou factory – Lead: 陈立华[ID:0]."
    prices = "| 产品 | 价格 |\n| --- | --- |\n| PE-21 | 86 |\n"
    answer = await direct("PE-21 的价格", [scored(prices, kind=SectionKind.TABLE)], None)
    assert answer == "PE-21，价格：86 [ID:0]。"


async def test_a_row_gives_the_columns_that_were_asked_for() -> None:
    table = scored(SITES, kind=SectionKind.TABLE)
    assert await direct("Where is the Leeds warehouse?", [table], None) == (
        "Leeds warehouse – Address: 14 Canal Wharf [ID:0]."
    )
    assert await direct("What is the phone of the Leeds warehouse?", [table], None) == (
        "Leeds warehouse – Phone: 0113 496 [ID:0]."
    )
    assert await direct("When is the Leeds warehouse open?", [table], None) == (
        "Leeds warehouse – Opening hours: 6:00 to 16:00 [ID:0]."
    )


async def test_a_row_is_called_as_the_question_has_it() -> None:
    leave = "| Leave | Length |\n| --- | --- |\n| Paternity | 4 weeks |\n| Shared | 50 weeks |\n"
    answer = await direct("How long is paternity leave?", [scored(leave, kind=SectionKind.TABLE)], None)
    assert answer == "Paternity leave – Length: 4 weeks [ID:0]."


@pytest.mark.parametrize("place", [0, 2, 7])
async def test_the_row_of_the_thing_comes_before_rows_of_what_is_done_to_it(place: int) -> None:
    service = "| Service | Price GBP |\n| --- | --- |\n| Calibration with certificate, TW-200 | 85 |\n| Cleaning, TW-200 | 20 |\n"
    meters = "| Article | Price GBP |\n| --- | --- |\n| TW-120 | 145 |\n| TW-200 | 890 |\n"
    chunks = [scored(service, kind=SectionKind.TABLE), *(scored("The TW-200 weighs 480 g.") for _ in range(7))]
    chunks.insert(place, scored(meters, kind=SectionKind.TABLE, score=0.75))
    assert await direct("What is the price of the TW-200?", chunks, None) == f"TW-200 – Price GBP: 890 [ID:{place}]."


async def test_what_is_said_of_another_place_is_no_answer() -> None:
    claims = "| Claim | Customer | Status |\n| --- | --- | --- |\n| C-102 | Baltic Tow | open |\n| C-103 | Northwind | paid |\n"
    abroad = "Working from another country is possible for up to 20 working days a calendar year."
    chunks = [scored(claims, kind=SectionKind.TABLE), scored(abroad)]
    assert await direct("When do we open in Rotterdam?", chunks, MiniLMEmbedder()) == ""
    assert (await nearest("Can I work from Spain for a month?", chunks, MiniLMEmbedder())).startswith("Working from")


async def test_a_rule_is_not_left_out_for_its_special_case() -> None:
    text = (
        "Up to five unused days may be carried into the next year. They must be taken by 31 March. Days that could not be "
        "taken because of sickness or parental leave are carried over in full."
    )
    chunk = scored(text, title="Carrying leave over")
    assert strip(await direct("Can I carry leave over?", [chunk], MiniLMEmbedder())) == text


@pytest.mark.parametrize(
    "exception", ["Laboratories are the exception.", "However, not in the hall.", "Except: sheds."]
)
async def test_an_exception_is_not_left_out(exception: str) -> None:
    text = f"Candles are forbidden in all buildings. {exception} Lamps are switched off at ten."
    said = strip(await direct("May I use candles in the buildings?", [scored(text)], None))
    assert said == text.rpartition(" Lamps")[0]
    apart = await direct("May I use candles in the buildings?", [scored(text.replace(". ", ".\n\n"))], None)
    assert exception not in strip(apart)


@pytest.mark.parametrize(
    ("question", "articles"),
    [
        ("Which articles need a licence?", ["PE-30", "CE-40"]),
        ("Which articles do not need a licence?", ["PE-21"]),
        ("Does the PE-21 need a licence?", ["PE-21"]),
    ],
)
async def test_of_rows_to_select_from_those_are_told_that_are_so(question: str, articles: list[str]) -> None:
    table = "| Article | Needs a licence |\n| --- | --- |\n| PE-21 | no |\n| PE-30 | yes |\n| CE-40 | Yes |\n"
    answer = await direct(question, [scored(table, kind=SectionKind.TABLE, title="Articles")], None)
    assert re.findall(r"\b[A-Z]{2}-\d\d", answer) == articles


async def test_a_number_answers_only_what_it_counts() -> None:
    staff = "Halden has 84 employees in Bergen. Everyone may work at home three days a week at Halden."
    home = staff.partition(". ")[2]
    embedder = MiniLMEmbedder()
    assert "84 employees" in await direct("How many people are at Halden?", [scored(staff)], embedder)
    assert await direct("How many people are at Halden?", [scored(home)], embedder) == ""
    weight = "Charge the meter for four hours. The meter charges at 0 to 40 degrees. The meter weighs 480 g."
    assert strip(await direct("How heavy is the meter with its charger?", [scored(weight)], embedder)) == (
        "The meter weighs 480 g."
    )
    without = scored(weight.rpartition(" The")[0])
    assert await direct("How heavy is the meter with its charger?", [without], embedder) == ""


async def test_what_an_address_is_made_of_says_nothing() -> None:
    helpers = "| Question | Ask |\n| --- | --- |\n| Pay | people@tarnfield.example |\n"
    chunks = [scored(helpers, kind=SectionKind.TABLE)]
    assert await direct("Which people are at Tarnfield?", chunks, None) == ""
    assert "people@tarnfield.example" in await direct("What is people@tarnfield.example?", chunks, None)


async def test_a_row_is_of_what_it_is_called() -> None:
    """Sales are near to marketing in meaning, and are another department; vehicles are cars."""
    budget = "| Department | Budget 2026 |\n| --- | --- |\n| Sales | 1240 |\n| Vehicles | 720 |\n"
    chunks = [scored(budget, kind=SectionKind.TABLE, score=0.4, title="Budget 2026")]
    embedder = MiniLMEmbedder()
    assert await direct("What was the marketing budget in 2026?", chunks, embedder) == ""
    assert "1240" in await direct("What was the sales budget in 2026?", chunks, embedder)
    assert "720" in await direct("What was the car budget in 2026?", chunks, embedder)


async def test_a_limit_in_one_city_is_no_limit_in_another() -> None:
    limits = scored("The hotel limit is £140 a night in London and £110 in Leeds.")
    assert await direct("What is the hotel limit in Paris?", [limits], MiniLMEmbedder()) == ""
    assert await direct("What is the hotel limit in Leeds?", [limits], MiniLMEmbedder())


async def test_a_rate_is_said_by_giving_one() -> None:
    mileage = scored("Mileage is NOK 4.90 a km. See the travel page for flights.", score=0.16)
    assert "4.90" in await direct("What is the mileage rate?", [mileage], MiniLMEmbedder())


async def test_a_number_is_no_name_of_a_row() -> None:
    sums = "| Year | Turnover |\n| --- | --- |\n| 2025 | 12 million |\n"
    answer = await direct("What was the turnover of 2025?", [scored(sums, kind=SectionKind.TABLE)], None)
    assert answer == "Year: 2025; Turnover: 12 million [ID:0]."


async def test_rows_that_answer_as_well_are_all_told() -> None:
    probes = "| Article | Fits |\n| --- | --- |\n| PE-21 | TW-120 |\n| PE-30 | TW-350 |\n| CE-40 | TW-350 |\n"
    answer = await direct("Which articles fit the TW-350?", [scored(probes, kind=SectionKind.TABLE)], None)
    assert answer == "PE-30 – Fits: TW-350 [ID:0].\n\nCE-40 – Fits: TW-350 [ID:0]."


async def test_a_line_that_introduces_a_list_brings_it() -> None:
    text = (
        "Some words before.\n\nBring the following documents:\n\n- your passport,\n- a tax form.\n\nAsk at reception."
    )
    answer = await direct("Which documents should I bring?", [scored(text)], None)
    assert answer == "Bring the following documents:\n\n- your passport, [ID:0]\n- a tax form [ID:0]."
    one = await direct("Who signs the tax form?", [scored(text)], None)
    assert one == "a tax form [ID:0]." or not one


async def test_a_point_without_a_full_stop_answers_and_stands_by_itself() -> None:
    text = "- Open a branch in Lyon in March 2027\n- Hire two engineers for pumps\n- Archive"
    lyon = await direct("When does the Lyon branch open?", [scored(text)], None)
    assert lyon == "Open a branch in Lyon in March 2027 [ID:0]"
    both = await direct("Which engineers for pumps and which branch in Lyon?", [scored(text)], None)
    assert both.count("\n\n") == both.count("[ID:0]") - 1


WORDS = st.sampled_from(["leave", "days", "five", "The", "probe", "It", "年休假", "is", "dry", "104", "E-104", "taken"])
SENTENCE = st.lists(WORDS, min_size=3, max_size=12).map(lambda words: " ".join(words) + ".")
TEXT = st.lists(SENTENCE, min_size=1, max_size=8).map(" ".join)


async def test_a_list_of_sentences_counts_each_and_one_of_words_is_one() -> None:
    rules = [f"Number {n} says what is kept on shelf {n}." for n in range(1, 7)]
    for count in range(2, 7):
        text = "The rules of the cellar:\n\n" + "\n".join(f"- {rule}" for rule in rules[:count])
        said = strip(await direct("Which are the rules of the cellar?", [scored(text)], None))
        assert said.startswith("The rules of the cellar:")
        assert said.count("Number ") == min(count, 4)
        assert said.endswith("…") == (count > 4)
    words = "The rooms of the cellar are:\n\n" + "\n".join(f"- room {n}" for n in range(1, 9))
    assert (await direct("Which are the rooms of the cellar?", [scored(words)], None)).count("[ID:0]") == 8


async def test_of_many_steps_the_first_are_told_and_that_more_follow() -> None:
    steps = [f"{n}. Turn valve {n} of the boiler to the right." for n in range(1, 8)]
    text = "Start the boiler like this:\n\n" + "\n".join(steps)
    said = strip(await direct("How do I start the boiler?", [scored(text)], None))
    assert said == "Start the boiler like this:\n\n" + "\n".join(steps[:4]) + "\n\n…"
    said = strip(await direct("How do I start the boiler?", [scored(text.partition("\n5.")[0])], None))
    assert said.endswith(steps[3])


@given(st.lists(st.tuples(SENTENCE, st.booleans()), min_size=1, max_size=12), SENTENCE)
async def test_whatever_lists_there_are_four_sentences_are_the_most(parts: list[tuple[str, bool]], asked: str) -> None:
    text = "\n".join(f"- {part}" if listed else f"\n{part}\n" for part, listed in parts)
    assert (await direct(asked, [scored(text)], None)).count("[ID:0]") <= 4


async def test_the_steps_of_an_instruction_come_together() -> None:
    text = (
        "Press CAL and choose the two-point calibration. Put the probe into the buffer. Wait for READY.\n\nIt is blue."
    )
    answer = await direct("How do I do a two-point calibration?", [scored(text)], None)
    assert strip(answer) == text.partition("\n")[0]
    assert strip(await direct("What is a two-point calibration?", [scored(text)], None)) == text.partition(" Put")[0]


async def test_a_table_that_lost_its_form_is_read_under_its_heading_line() -> None:
    text = (
        "Instrument Quantity Limit\nTW-200 pH 0.03\nTW-350 pH 0.01\n\nAn instrument outside its limit is adjusted once."
    )
    answer = await direct("What is the pH limit of the TW-350?", [scored(text)], None)
    assert answer == "Instrument Quantity Limit: TW-350 pH 0.01 [ID:0]."


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("What does the PE-30 cost?", True),
        ("What does the PE-30 weigh?", False),
        ("Which colour does the PE-30 have?", False),
        ("What is the PE-30?", True),
    ],
)
async def test_what_is_asked_must_be_said_and_not_only_the_thing_named(question: str, answered: bool) -> None:
    prices = "| Article | Name | Cost |\n| --- | --- | --- |\n| PE-30 | pH probe | 118 |\n"
    assert bool(await direct(question, [scored(prices, kind=SectionKind.TABLE)], None)) is answered


async def test_a_row_of_the_thing_tells_nothing_that_no_column_is_about() -> None:
    table = scored(SITES, kind=SectionKind.TABLE)
    assert await direct("When was the Leeds warehouse built?", [table], None) == ""
    assert await direct("What is the phone of the Leeds warehouse?", [table], None)


async def test_a_word_of_like_meaning_is_as_good() -> None:
    """What the price is may be asked as what it costs; what a thing weighs isn't told by its price."""
    prices = "| Article | Name | Price |\n| --- | --- | --- |\n| PE-30 | pH probe | 118 |\n"
    chunks = [scored(prices, kind=SectionKind.TABLE, score=0.5, title="Price list")]
    embedder = MiniLMEmbedder()
    assert "118" in await direct("What does the PE-30 cost?", chunks, embedder)
    assert await direct("What does the PE-30 weigh?", chunks, embedder) == ""


async def test_chinese_sentences_join_without_spaces() -> None:
    answer = await direct("年休假几天，其余部分什么时候使用？", [scored(RULES)], None)
    assert answer == "年休假为12天[ID:0]。其余部分须在次年6月30日之前使用[ID:0]。"


async def test_nothing_to_quote_is_no_answer() -> None:
    assert await direct("anything", [], None) == ""
    assert await direct("anything", [scored("# Heading\n\n---\n")], None) == ""


async def test_the_same_sentence_is_quoted_once() -> None:
    answer = await direct("How many unused days may be carried over?", [scored(LEAVE), scored(LEAVE, score=0.7)], None)
    assert answer.count("unused days") == 1


DOUBLED = "leave leave leave. days It five days days days days."


@given(st.lists(TEXT, min_size=1, max_size=6), SENTENCE)
@example([DOUBLED, *["leave leave leave."] * 3, f"{DOUBLED} It leave days."], "leave leave days.")
async def test_every_quoted_sentence_stands_whole_in_the_chunk_it_cites(texts: list[str], question: str) -> None:
    chunks = [scored(text, score=1 - i / 10) for i, text in enumerate(texts)]
    answer = await direct(question, chunks, None)
    quoted = re.findall(r"(.+?) ?\[ID:(\d+)\]([.。])\s*", answer)
    assert len(quoted) == answer.count("[ID:")
    assert len(quoted) <= ExtractOptions().sentences
    assert len({text for text, _, _ in quoted}) == len(quoted)
    for text, number, stop in quoted:
        assert text + stop in {unit.text for unit in units_of(chunks[int(number)].chunk, 0)}
    assert "[ID:" not in strip(answer)


@pytest.mark.parametrize("kind", list(SectionKind))
@given(text=st.text(max_size=400), question=st.text(max_size=80))
async def test_any_text_can_be_asked(kind: SectionKind, text: str, question: str) -> None:
    answer = await direct(question, [scored(text, kind=kind)], None)
    assert not answer or "[ID:0]" in answer


async def test_the_frame_of_a_chinese_question_is_no_part_of_its_words() -> None:
    """A sick note asked for as 病假需要什么证明 holds no word 假需; 年假 is short for 年休假."""
    assert await direct("休病假需要什么证明？", [scored(SICK)], None) == "病假超过两天的，须提交诊断证明[ID:0]。"
    assert await direct("年假有多少天？", [scored(RULES)], None) == "年休假为12天[ID:0]。"
    assert await direct("停车费是多少？", [scored(RULES)], None) == ""
    assert await direct("病假什么时候通知主管？", [scored(RULES)], None) == "病假须当天通知主管[ID:0]。"
    # 假超 and 过后 stand across the border of words: nobody's words, which nothing could hold.
    fee = "保修期外的检测费为每台300元，维修时可抵扣维修费。"
    assert strip(await direct("保修期过后检测要收多少钱？", [scored(fee)], None)) == fee


class DeafEmbedder(HashEmbedder):
    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise ModelUnreachable("no connection")


async def test_words_alone_do_where_the_embedder_fails() -> None:
    answer = await direct("How many unused days may be carried over?", [scored(LEAVE)], DeafEmbedder())
    assert answer.startswith("Up to five unused days")
