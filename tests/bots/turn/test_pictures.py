"""The pictures of an answer's passages: those that may be read, few, of a bounded size, in time, or none."""

import asyncio
import base64
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from bots.platform import Reach
from bots.requests import Ask, Event, Recall, Recalled, Request, Show, Shown
from bots.turn.options import ChannelRule
from bots.turn.pictures import LONGEST_LABEL, PictureLimits, Pictures
from ragcore.errors import CitebotError, StoreError
from ragcore.types import Citation, Image
from tests.bots.turn.flows import OPTIONS, Model, flowing
from tests.fakes.operations import cited
from tests.fakes.platform import asked
from tests.fakes.virtual import run

READERS = frozenset({"slack:T1"})
REQUEST = Recall(reference="0123abcd", audience=READERS, knowledge_bases=("handbook",))


def citation(number: int, chunk: str, **more: str) -> Citation:
    return replace(cited(number, 0), chunk_id=chunk, **more)  # type: ignore[arg-type]


def drawn(chunk: str, content: bytes = b"png") -> Shown:
    data = base64.b64encode(content).decode()
    return Shown(chunk_id=chunk, image=Image(media_type="image/png", data=data), pages=(1,))


class Drawing:
    """A backend that tells a turn again and draws by a script: what to give, to wait for, or to raise."""

    def __init__(self, citations: Sequence[Citation], script: Sequence[Shown | float | CitebotError]) -> None:
        self.citations = tuple(citations)
        self.script = script
        self.asked: list[Request] = []
        self.most = self.now = 0

    async def run(self, request: Request) -> AsyncIterator[Event]:
        self.asked.append(request)
        if isinstance(request, Recall):
            yield Recalled(question="Why?", answer="", citations=self.citations)
            return
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            for one in self.script:
                if isinstance(one, float):
                    await asyncio.sleep(one)
                elif isinstance(one, CitebotError):
                    raise one
                else:
                    yield one
        finally:
            self.now -= 1


def of(backend: Drawing, limits: PictureLimits | None = None) -> list[tuple[int, str]]:
    """Return what is given of the passages: numbers and contents."""
    pictures = run(Pictures(backend, limits or PictureLimits()).of(REQUEST))
    assert backend.now == 0, "what draws was let go"
    return [(one.number, one.png.decode()) for one in pictures]


TWO = (citation(1, "a"), citation(2, "b"))
FOUR = (citation(1, "a"), citation(2, "b"), citation(3, "c"), citation(4, "d"))


@pytest.mark.parametrize(
    ("script", "given"),
    [
        ([drawn("b", b"B"), drawn("a", b"A")], [(1, "A"), (2, "B")]),
        ([Shown(chunk_id="a", reason="its source does not have it any more"), drawn("b", b"B")], [(2, "B")]),
        ([drawn("a", bytes(65)), drawn("b", bytes(64))], [(2, "\0" * 64)]),
        ([drawn("a", b"A"), 3_600.0, drawn("b", b"B")], [(1, "A")]),
        ([drawn("a", b"A"), StoreError("the database is away")], [(1, "A")]),
        ([3_600.0], []),
    ],
    ids=["both", "one is gone", "one is large", "one is late", "it fails", "all late"],
)
def test_what_can_be_drawn_in_time_is_given(script: list[Shown | float | CitebotError], given: object) -> None:
    backend = Drawing(TWO, script)
    assert of(backend, PictureLimits(bytes=64)) == given
    assert backend.asked == [REQUEST, Show(chunks=("a", "b"), audience=READERS)]


def test_no_more_are_drawn_than_are_given() -> None:
    backend = Drawing(FOUR, [*map(drawn, "abc"), 3_600.0, drawn("d")])
    assert [number for number, _ in of(backend)] == [1, 2, 3]


def test_an_answer_without_citations_asks_for_none() -> None:
    backend = Drawing((), [])
    assert of(backend) == []
    assert backend.asked == [REQUEST]


def test_one_passage_cited_twice_is_drawn_once_under_its_first_number() -> None:
    backend = Drawing((citation(2, "a"), citation(1, "a")), [drawn("a", b"A")])
    assert of(backend) == [(1, "A")]
    assert backend.asked[-1] == Show(chunks=("a",), audience=READERS)


def test_many_presses_draw_a_few_at_a_time() -> None:
    async def press() -> None:
        pictures = Pictures(backend, PictureLimits(seconds=30.0, at_once=2))
        given = await asyncio.gather(*(pictures.of(REQUEST) for _ in range(8)))
        # 20 seconds each: whoever waits too long has the passages alone.
        assert [len(one) for one in given] == [1, 1, 0, 0, 0, 0, 0, 0]

    backend = Drawing(TWO[:1], [20.0, drawn("a")])
    run(press())
    assert backend.most == 2
    assert backend.now == 0


def test_a_label_is_one_short_line() -> None:
    title, location = "A title\nof two lines " * 30, "page 2"
    (picture,) = run(
        Pictures(Drawing([citation(1, "a", title=title, location=location)], [drawn("a")]), PictureLimits()).of(REQUEST)
    )
    assert "\n" not in picture.caption
    assert len(picture.label) <= LONGEST_LABEL


class Painter(Model):
    """The scripted model, which can draw too."""

    async def run(self, request: Request) -> AsyncIterator[Event]:
        if isinstance(request, Show):
            self.asked.append(request)
            for chunk in request.chunks:
                yield drawn(chunk)
            return
        async for event in super().run(request):
            yield event


@pytest.mark.parametrize("pictures", [PictureLimits(), None], ids=["on", "off"])
def test_pictures_are_for_those_who_may_read_the_answer_where_it_was_given(pictures: PictureLimits | None) -> None:
    async def talk() -> None:
        options = replace(
            OPTIONS,
            readers_of={"handbook": ("slack:T1",), "secret": ("discord:@U1",)},
            channels={"discord:G1/C1": ChannelRule(knowledge_bases=("secret",))},
            pictures=pictures,
        )
        asker, others = frozenset({"discord:@U1"}), frozenset({"discord:@U2"})
        async with flowing(options=options, model=Painter()) as flow:
            question = asked("Why?", private=True, reach=Reach.COMMAND, command="ask", seen_by=asker)
            await flow.turns.receive(question)
            await flow.idle()
            (reference,) = [one.reference for one in flow.model.asked if isinstance(one, Ask)]
            flow.model.asked.clear()
            given = [await flow.turns.pictures(reference, who) for who in (asker, others, READERS)]
            assert [len(one) for one in given] == [pictures is not None, 0, 0]
            recalled = [one.knowledge_bases for one in flow.model.asked if isinstance(one, Recall)]
            assert recalled == [("secret",)] * (pictures is not None)
            assert await flow.turns.pictures("ffffffff", asker) == ()
            await flow.turns.close()
            assert await flow.turns.pictures(reference, asker) == ()

    run(talk())
