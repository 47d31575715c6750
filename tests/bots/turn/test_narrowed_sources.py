"""A channel whose settings narrow what it is answered from: its list of sources names no others."""

from collections.abc import AsyncIterator
from dataclasses import replace

from bots.requests import Event, ListSources, Request, SourceState
from bots.turn.options import ChannelRule
from tests.bots.turn.flows import OPTIONS, Model, flowing
from tests.fakes.platform import asked
from tests.fakes.virtual import run


class TwoSources(Model):
    async def run(self, request: Request) -> AsyncIterator[Event]:
        if isinstance(request, ListSources):
            for name in ("handbook", "salaries"):
                yield SourceState(name=name, type="files", knowledge_base=name, documents=3, chunks=9)
            return
        async for event in super().run(request):
            yield event


def test_a_narrowed_channel_lists_its_own_sources_alone() -> None:
    async def talk() -> None:
        options = replace(
            OPTIONS,
            readers_of={"handbook": ("*",), "salaries": ("*",)},
            channels={"discord:G1/C1": ChannelRule(knowledge_bases=("handbook",))},
        )
        async with flowing(options=options, model=TwoSources()) as flow:
            await flow.turns.receive(asked("sources"))
            await flow.turns.receive(asked("sources", message="q2", channel="C2"))
            await flow.idle()
            (here,), (there,) = flow.texts("q1"), flow.texts("q2")
            assert "handbook" in here
            assert "handbook" in there
            assert ("salaries" in here, "salaries" in there) == (False, True)

    run(talk())
