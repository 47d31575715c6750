"""The steps that ask a model, on a made-up set with a made-up endpoint: what they cost, and what stands in a line."""

import json
from collections.abc import AsyncIterator

import pytest
from aiohttp.test_utils import TestServer

from benchmarks import _stand_ins, embedded_fields, model_steps
from benchmarks._judged_sets import JudgedSet
from benchmarks._model_plan import STEPS, Counted, Endpoints, ModelStep
from benchmarks._pictured import WORD, pictured
from ragcore.enrich.graph_reply import graph_of
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.same_reply import same_of
from ragcore.evaluate.judged import JudgedQuery
from ragcore.models.http_reranker import Endpoint, HttpReranker
from ragcore.models.openai_chat import ChatOptions, OpenAIChatModel
from ragcore.prompts import OWN
from ragcore.types import Image, Message, SourceDocument
from tests.fakes.embedding import HashEmbedder
from tests.fakes.openai_server import OpenAIServer, Reply, Request

PLACES = ["harbour", "orchard", "quarry", "lighthouse"]


def made_up(paragraphs: int = 1) -> JudgedSet:
    return JudgedSet(
        name="made-up",
        documents=tuple(
            SourceDocument(
                id=f"bench:{place}",
                source="bench",
                content="\n\n".join(
                    f"The {place} number {n} was built by masons. " + f"Its {place} keeper tells of storm {n}. " * 12
                    for n in range(paragraphs)
                ).encode(),
                title=place,
                media_type="text/plain",
            )
            for place in PLACES
        ),
        questions=tuple(JudgedQuery(id=place, text=f"Who built the {place}?", grades={place: 1}) for place in PLACES),
        held=lambda chunk: [chunk.document_id.partition(":")[2]],
    )


def reply(request: Request) -> Reply:
    rules, passage = request.texts[0], request.texts[-1]
    if "summar" in rules.casefold():
        return Reply(text=" ".join(passage.split()[:30]))
    if "relation" in rules.casefold():
        return Reply(text=json.dumps({"entities": [], "relations": []}))
    return Reply(text=", ".join(passage.split()[:3]))


@pytest.fixture
async def endpoint() -> AsyncIterator[tuple[OpenAIServer, OpenAIChatModel]]:
    async with OpenAIServer(reply) as server:
        yield server, OpenAIChatModel(base_url=server.base_url, model="fake", context_window=8_192)


@pytest.mark.soak
async def test_a_line_tells_what_a_step_changes_and_costs(endpoint: tuple[OpenAIServer, OpenAIChatModel]) -> None:
    server, model = endpoint
    step = ModelStep(name="keywords", enrich=EnrichOptions(auto_keywords=3))
    outcome = await model_steps.measure(step, made_up(), Endpoints(chat=model), embedder=HashEmbedder())
    assert (outcome.report.usage.calls, outcome.again, len(server.requests)) == (4, 0, 4)
    assert (outcome.report.failed, outcome.holds) == ((), "")
    assert outcome.on.recall == 1.0
    cells = model_steps.row(step, made_up(), outcome).strip("| ").split(" | ")
    assert len(cells) == model_steps.HEADER.splitlines()[0].count(" | ") + 1
    assert (cells[0], cells[2], cells[7]) == ("keywords", "4, 4", "4")


@pytest.mark.soak
async def test_a_tree_and_a_judge_are_told_too(endpoint: tuple[OpenAIServer, OpenAIChatModel]) -> None:
    server, model = endpoint
    by_name = {step.name: step for step in STEPS}
    tree = next(step for name, step in by_name.items() if "raptor" in name)
    outcome = await model_steps.measure(tree, made_up(paragraphs=12), Endpoints(chat=model), embedder=HashEmbedder())
    assert outcome.report.usage.calls >= 4
    assert "on chunks that there are" in outcome.holds
    made, _, chunks = outcome.holds.split()[:3]
    assert int(made) >= 4
    assert chunks == "of"
    server.default = lambda request: Reply(text="[0, 1]")
    judge = next(step for name, step in by_name.items() if "rerank" in name)
    outcome = await model_steps.measure(judge, made_up(), Endpoints(chat=model), embedder=HashEmbedder())
    assert outcome.report.usage.calls == outcome.again == 0
    assert outcome.on.usage.calls <= 4


@pytest.mark.soak
async def test_an_overview_is_told_with_what_it_rests_on(endpoint: tuple[OpenAIServer, OpenAIChatModel]) -> None:
    step = next(step for step in STEPS if step.enrich.overview)
    outcome = await model_steps.measure(step, made_up(), Endpoints(chat=endpoint[1]), embedder=HashEmbedder())
    written, _, _, of, _, resting = outcome.holds.split()[:6]
    assert int(written) == int(resting) == outcome.report.usage.calls >= 1
    assert int(of) == len(PLACES)


@pytest.mark.soak
async def test_pictures_are_described_once_and_found_by_their_captions_before(
    endpoint: tuple[OpenAIServer, OpenAIChatModel],
) -> None:
    server, _ = endpoint
    server.default = lambda request: Reply(text=f"A picture of a page, number {len(server.requests)}.")
    model = OpenAIChatModel(base_url=server.base_url, model="fake", context_window=model_steps.PICTURED)
    data = pictured(made_up())
    assert {one.media_type for one in data.documents} == {WORD}
    step = next(step for step in STEPS if step.is_pictured)
    outcome = await model_steps.measure(step, data, Endpoints(chat=model), embedder=HashEmbedder())
    assert (outcome.report.usage.calls, outcome.report.failed, outcome.again) == (len(PLACES), (), 0)
    assert all(len(request.images) == 1 for request in server.requests)
    assert outcome.off.recall == 1.0
    await model.close()


async def test_only_what_is_asked_for_as_prose_is_asked_without_the_form(
    endpoint: tuple[OpenAIServer, OpenAIChatModel],
) -> None:
    server, free = endpoint
    options = ChatOptions(extra_body={"response_format": {"type": "json_object"}})
    formed = OpenAIChatModel(base_url=server.base_url, model="fake", context_window=8_192, options=options)
    step = next(step for step in STEPS if step.prose)
    model = model_steps.InForm(formed, free, step.prose)
    assert step.prose.startswith("You write a short report")
    for rules in (step.prose, "Write JSON."):
        await model.complete([Message(role="system", text=rules), Message(role="user", text="?")], task="enrich")
    await formed.close()
    assert ["response_format" in request.body for request in server.requests] == [False, True]


async def test_the_stand_in_for_a_reranker_orders_by_likeness_and_its_requests_are_counted() -> None:
    embedder = HashEmbedder()
    texts = ["an orchard", "who built the harbour", "a quarry"]
    async with TestServer(_stand_ins.app(embedder)) as server:
        reranker = HttpReranker(Endpoint(base_url=str(server.make_url("/v1"))))
        found = await Counted(reranker).rerank("who built the harbour", texts)
        await reranker.close()
    assert found.order[0] == 1
    assert found.scores[1] == pytest.approx(1.0, abs=1e-5)
    vectors = await embedder.embed(["who built the harbour", *texts])
    cosines = [float(one @ vectors[0]) for one in vectors[1:]]
    assert [found.scores[at] for at in range(3)] == pytest.approx([(one + 1) / 2 for one in cosines], abs=1e-5)
    assert found.usage.calls == 1
    assert found.usage.prompt_tokens > len(texts)


async def test_the_stand_in_for_a_model_that_reads_pictures_says_the_same_of_each() -> None:
    async with TestServer(_stand_ins.app(HashEmbedder())) as server:
        model = OpenAIChatModel(base_url=str(server.make_url("/v1")), model="any", context_window=model_steps.PICTURED)
        image = Image(media_type="image/png", data="AA==")
        text, usage = await model.complete([Message(role="user", text="?", images=(image,))], task="vision")
        await model.close()
    assert text == _stand_ins.WORDS
    assert usage.calls == 1
    assert usage.prompt_tokens > 4_000, "Citebot's own count of a picture"


def test_the_stand_in_for_a_graph_relates_the_names_of_a_sentence_that_stand_in_it() -> None:
    passage = "Last year Ada Lovelace met Charles Babbage.\nNobody saw Babbage, nor Lovelace. The end of it was dull."
    rules = OWN.render("graph", entities=16, relations=24)
    messages = [{"role": "system", "content": rules}, {"role": "user", "content": passage}]
    found = graph_of(_stand_ins.reply(messages), passage)
    assert {one.name for one in found.entities} == {"Ada Lovelace", "Charles Babbage", "Babbage", "Lovelace"}
    names = [one.name for one in found.entities]
    assert {(names[one.source], names[one.target]) for one in found.relations} == {
        ("Ada Lovelace", "Charles Babbage"),
        ("Babbage", "Lovelace"),
    }
    messages[0]["content"] = OWN.render("graph_same")
    assert same_of(_stand_ins.reply(messages), 3) == frozenset()


def test_stand_ins_for_keywords_are_the_words_that_tell_a_text_from_others() -> None:
    texts = ["The ferry leaves the harbour at five, the ferry of the harbour.", "The harbour is old.", "The old mill."]
    known = embedded_fields.frequencies(texts)
    assert known["harbour"] == 2
    assert "the" not in known
    found = embedded_fields.keywords(texts[0], known, len(texts))
    assert found[0] == "ferry"
    assert set(found) <= set(texts[0].replace(",", "").replace(".", "").split())
    assert embedded_fields.keywords("", known, 3) == ()


def test_each_way_embeds_another_text() -> None:
    ways = (embedded_fields.ALONE, embedded_fields.AFTER, embedded_fields.INSTEAD)
    assert [way.text("text", ("a", "b")) for way in ways] == ["text", "text\na, b", "a\nb"]
    assert embedded_fields.INSTEAD.text("text", ()) == "text"


@pytest.mark.soak
@pytest.mark.parametrize("field", ["keywords"])
async def test_a_field_is_measured_in_each_way(field: str, capsys: pytest.CaptureFixture[str]) -> None:
    ways = (embedded_fields.ALONE, embedded_fields.AFTER)
    await embedded_fields.measure(made_up(), field, ways, embedder=HashEmbedder())
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()]
    assert [row[:3] for row in rows] == [[field, "made-up", way.name] for way in ways]
    assert all(len(row) == 7 for row in rows)


def test_every_step_asks_a_model() -> None:
    assert len({step.name for step in STEPS}) == len(STEPS)
    bare = ModelStep(name="none")
    assert all(step.enrich != bare.enrich or step.search is not bare.search or step.is_pictured for step in STEPS)
