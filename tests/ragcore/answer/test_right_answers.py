"""From a model's endpoint to the answer: what is right keeps its citations, what its passage contradicts loses them."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragcore.answer import Answerer, AnswerOptions
from ragcore.citations import markers
from ragcore.models.minilm import MiniLMEmbedder
from ragcore.phrases import Phrase, phrase
from ragcore.tokens import offline_tokenizer
from ragcore.types import Answer, Chunk, Delta, Question, ScoredChunk, Support, Usage
from tests.fakes.openai_server import OpenAIServer, Reply
from tests.ragcore.models.llm_calls import make

TEXTS = (
    "Full-time employees receive 25 days of paid leave a year. Up to 5 days carry over until 31 March. The budget is "
    "1,000 euros; 5 % of it is kept back. The office opens at 15:00 on 5 March 2024. Error ERR_CONN_104 means that the "
    "probe is wet. Run `pumpctl --reset` to clear it. Ms Keller leads the Lyon team.",
    "员工每年有10天年假。预算为一千元，其中百分之五留作备用。会议于2024年3月5日下午三点开始。错误代码 E-417 表示电池电量低。李雷负责上海团队。",
    "Vollzeitkräfte erhalten 25 Tage bezahlten Urlaub im Jahr. Das Budget beträgt 1.000 Euro, davon werden 5 Prozent "
    "zurückgehalten. Die Sitzung beginnt am 5. März 2024 um 15 Uhr.",
    "| Plan | Price | Storage |\n|---|---|---|\n| Basic | $10 | 5 GB |\n| Pro | $1,250.50 | 50 GB |",
)
EMBEDDER = MiniLMEmbedder()


@dataclass(frozen=True)
class Found:
    notes: tuple[Phrase, ...] = ()
    usage: Usage = Usage()
    near: tuple[ScoredChunk, ...] = ()
    chunks: tuple[ScoredChunk, ...] = field(
        default=tuple(
            ScoredChunk(
                score=1 - number / 10,
                chunk=Chunk(
                    id=f"g-{number}", document_id=f"d:{number}", knowledge_base="k", ordinal=0, text=text,
                    title=f"Handbook {'ABCD'[number]}", token_count=50, url=f"https://wiki.example/{number}" if number else "",
                ),
            )
            for number, text in enumerate(TEXTS)
        )
    )  # fmt: skip


class Everything:
    async def retrieve(self, question: Question) -> Found:
        return Found()


@pytest.fixture
async def server() -> AsyncIterator[OpenAIServer]:
    async with OpenAIServer() as running:
        yield running


async def ask(server: OpenAIServer, *replies: Reply, **options: object) -> tuple[str, Answer]:
    """Return what was streamed, and the answer."""
    server.queue(*replies)
    answerer = Answerer(
        retriever=Everything(), embedder=EMBEDDER, tokenizer=offline_tokenizer(), chat_model=make(server),
        options=AnswerOptions(**options),  # type: ignore[arg-type]
    )  # fmt: skip
    events = [event async for event in answerer.answer(Question(text="What holds?", knowledge_bases=("k",)))]
    answers = [event for event in events if isinstance(event, Answer)]
    assert len(answers) == 1
    assert events[-1] is answers[0]
    return "".join(event.text for event in events if isinstance(event, Delta)), answers[0]


def passages(text: str) -> list[int]:
    return [found.id for found in markers.find(text)]


RIGHT = (
    # Said otherwise, in the same language.
    "Staff get 25 days off with pay every year [ID:0].",
    "Five days may be moved to the next year, until the end of March [ID:0].",
    "Five percent of the budget is held in reserve [ID:0].",
    # Numbers, dates and times written otherwise.
    "The budget is 1000 euros [ID:0].",
    "The budget is one thousand euros [ID:0].",
    "The budget is €1,000 [ID:0].",
    "5% of the budget is kept back [ID:0].",
    "The office opens at 3 PM on March 5, 2024 [ID:0].",
    "The office opens at 3:00 p.m. on 2024-03-05 [ID:0].",
    "The office opens on 5.3.2024 [ID:0].",
    "The office opens on the 5th of March [ID:0].",
    "The Pro plan costs 1250.5 dollars [ID:3].",
    # Codes and commands.
    "`ERR_CONN_104`: wet probe [ID:0].",
    "Reset it with `pumpctl --reset` [ID:0].",
    # Lists and tables.
    "- Basic: 5 GB [ID:3]\n- Pro: 50 GB [ID:3]",
    "| Plan | Storage |\n|---|---|\n| Pro | 50 GB [ID:3] |",
    # Another language than the passage's.
    "员工每年有25天带薪年假[ID:0]。",
    "预算为一千欧元，其中5%保留[ID:0]。",
    "办公室于2024年3月5日下午3点开放[ID:0]。",
    "错误 ERR_CONN_104 表示探头潮湿[ID:0]。",
    "凯勒女士领导里昂团队[ID:0]。",
    "Employees get ten days of annual leave [ID:1].",
    "The meeting starts at 15:00 on 5 March 2024 [ID:1].",
    "Error E-417 means a low battery [ID:1].",
    "Full-time staff receive 25 days of paid leave [ID:2].",
    "The meeting starts on March 5, 2024 at 3 PM [ID:2].",
    "全职员工每年有二十五天带薪假[ID:2]。",
    "Les employés à temps plein ont 25 jours de congés payés [ID:0].",
    "Le budget est de 1 000 euros [ID:0].",
    "El presupuesto es de 1.000 euros [ID:0].",
    # A language that the embedder does not know.
    "Das Budget liegt bei tausend Euro [ID:2].",
    "Бюджет составляет 1 000 евро [ID:0].",
    # Two passages for one sentence, each with its own numbers.
    "Staff get 25 days, and the Pro plan costs $1,250.50 [ID:0][ID:3].",
)
CONTRADICTED = (
    "Staff get 12 days off with pay every year [ID:0].",
    "The budget is 2,000 euros [ID:0].",
    "6 % of the budget is kept back [ID:0].",
    "The office opens at 4 PM on March 5, 2024 [ID:0].",
    "The office opens on 6 March 2024 [ID:0].",
    "ERR_CONN_105 tells you the probe got wet [ID:0].",
    "Employees do not receive 25 days of paid leave a year [ID:0].",
    "The Pro plan costs $1,350.50 [ID:3].",
    "员工每年有12天带薪年假[ID:0]。",
    "预算为两千欧元[ID:0]。",
    "Kowalski 女士领导里昂团队[ID:0]。",
    "Employees get 12 days of annual leave [ID:1].",
    "Error E-418 means a low battery [ID:1].",
    "Das Budget beträgt 2.000 Euro [ID:2].",
    "Full-time staff receive 30 days of paid leave [ID:2].",
)


@pytest.mark.parametrize(("said", "right"), [(said, said in RIGHT) for said in (*RIGHT, *CONTRADICTED)])
async def test_what_is_right_keeps_its_citations_and_what_the_passage_contradicts_loses_them(
    server: OpenAIServer, said: str, right: bool
) -> None:
    _, answer = await ask(server, Reply(text=said))
    if right:
        assert answer.support is Support.CITED
        assert set(passages(said)) <= set(passages(answer.raw_text))
        assert markers.strip(answer.raw_text) == markers.strip(said)
    else:
        assert passages(answer.raw_text) == []
        assert answer.citations == ()


@pytest.mark.parametrize(
    "said",
    [
        "The documents do not mention parental leave.",
        "I could not find anything about parental leave in the provided documents.",
        "文档中没有提到育儿假。",
    ],
)
async def test_that_the_documents_do_not_tell_is_neither_cited_nor_branded(server: OpenAIServer, said: str) -> None:
    _, answer = await ask(server, Reply(text=said))
    assert (answer.raw_text, answer.support) == (said, Support.EXEMPT)


async def test_ragflow_streams_an_answer_and_throws_its_citations_away(server: OpenAIServer) -> None:
    said = "Full-time employees receive 25 days of paid leave a year. Up to 5 days carry over until 31 March (ID: 0)."
    streamed, answer = await ask(server, Reply(pieces=tuple(said)))
    assert streamed == said
    assert passages(answer.raw_text) == [0, 0]
    assert [citation.id for citation in answer.citations] == [0]


async def test_onyx_writes_an_empty_link_for_a_document_without_an_address(server: OpenAIServer) -> None:
    _, answer = await ask(server, Reply(text="Full-time employees receive 25 days of paid leave a year [ID:0]."))
    assert [citation.url for citation in answer.citations] == [""]
    assert "()" not in answer.raw_text


BARE = "Employees may rest.  Whales sing\n\n- at night, 5 % louder."


@pytest.mark.parametrize(
    ("second", "kept"),
    [
        (BARE.replace("rest.", "rest [ID:0]."), True),
        (BARE.replace("rest.", "rest. [ID:0]"), True),
        (BARE.replace("Whales", "Seals").replace("rest.", "rest [ID:0]."), False),
        (BARE.replace("rest.", "rest [ID:0]!"), False),
        (BARE.replace("5 %", "50 %").replace("rest.", "rest [ID:0]."), False),
        (BARE.replace("rest.", "rest [ID:0].").replace("\n\n", " "), False),
        (BARE.replace("rest.", "rest [ID:0].").replace(".  ", ". "), False),
        ("\n" + BARE.replace("rest.", "rest [ID:0].") + "\n", True),
        (f"Here it is:\n\n{BARE.replace('rest.', 'rest [ID:0].')}", False),
        (BARE.replace("rest.", "rest [ID:0].") + " Hope this helps!", False),
        ("", False),
    ],
)
async def test_the_second_pass_adds_citations_or_is_dropped(server: OpenAIServer, second: str, kept: bool) -> None:
    _, answer = await ask(server, Reply(text=BARE), Reply(text=second), citation_plus=True)
    assert len(server.requests) == 2
    assert server.requests[1].texts[-1] == BARE
    text = answer.raw_text.removeprefix(f"{phrase('unsupported', 'en')}\n\n")
    assert markers.strip(text) == BARE
    assert (passages(text) == [0]) is kept


@given(st.lists(st.sampled_from(["[ID:0]", "[ID:9]", " ", "\n", "!", "Seals", *BARE.split(" ")]), max_size=14))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
async def test_whatever_the_second_pass_writes_the_words_stay(server: OpenAIServer, pieces: list[str]) -> None:
    _, answer = await ask(server, Reply(text=BARE), Reply(text=" ".join(pieces)), citation_plus=True)
    assert markers.strip(answer.raw_text).endswith(BARE)
