"""What models wrote goes once nothing live can ask about it and nobody has for long, and not before."""

import pathlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from ragcore.enrich.asking import NOTED_TOGETHER, Call
from ragcore.enrich.options import EnrichOptions
from ragcore.ingest import remove
from ragcore.library import Library
from ragcore.stores.database import PAGE, Database
from ragcore.stores.model_results import KEPT_DAYS, KEPT_DAYS_OF_ALL, ModelResult, ModelResults, Use, of_all
from ragcore.stores.schema import counters, model_results
from tests.fakes.chatting import SayingModel
from tests.fakes.libraries import fill, opened
from tests.ragcore.enrich.test_enrich import TEXTS, asker, run, say
from tests.ragcore.parsing.pictures import white_png
from tests.ragcore.test_ingest_pictures import PIPELINE, Model, asking, index

NOW = datetime.now(UTC)
LATER = NOW + timedelta(days=KEPT_DAYS + 1)


async def kept(database: Database) -> int:
    async with database.connect() as connection:
        return await connection.scalar(select(func.count()).select_from(model_results)) or 0


async def prune(library: Library, now: datetime = LATER) -> int:
    """Look for what nothing needs as if that had not been done for long."""
    async with library.database.begin() as connection:
        await connection.execute(counters.delete().where(counters.c.name == "model_results_pruned"))
    return await ModelResults(library.database).prune(now=now)


async def test_what_live_documents_rest_on_stays_however_old(tmp_path: pathlib.Path) -> None:
    model = SayingModel(say)
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await run(library, model)
        assert await kept(library.database) == 6
        assert await prune(library, NOW + timedelta(days=10_000)) == 0
        # A paragraph changes: what was said of the old one is of use to nobody, in the end.
        await fill(library, TEXTS | {"leave": TEXTS["leave"].replace("14", "16")})
        await run(library, model)
        assert await kept(library.database) == 8
        assert await prune(library, NOW + timedelta(days=KEPT_DAYS - 1)) == 0
        assert await prune(library) == 2
        # A step that was switched off and is on again before that asks for nothing.
        await run(library, model, EnrichOptions(auto_keywords=2))
        assert await prune(library, NOW + timedelta(days=KEPT_DAYS - 1)) == 0
        asked = len(model.asked)
        back = await run(library, model)
        assert (back.usage.calls, len(model.asked)) == (0, asked)
        assert await prune(library) == 0
        await remove(library, ["s:leave"])
        assert await prune(library) == 4
        assert await kept(library.database) == 2


async def test_what_failed_in_part_keeps_what_it_had(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await run(library, SayingModel(say))
        report = await run(library, SayingModel(lambda rules, material: ""), identity="another")
        assert len(report.failed) == 2
        assert await prune(library) == 0
        back = await run(library, SayingModel(say))
        assert (back.documents, back.usage.calls) == (0, 0)
        await fill(library, TEXTS | {"travel": TEXTS["travel"] + "\n\n# Trains\n\nTrains are paid in full."})
        again = await run(library, SayingModel(say))
        assert (again.usage.calls, again.cached) == (2, 2)


async def test_what_is_in_use_again_is_not_dropped_whoever_owned_it(tmp_path: pathlib.Path) -> None:
    """Results that nothing needed are old enough to go when a pass that is under way uses them."""
    async with opened(tmp_path) as library:
        asking = asker(library, SayingModel(lambda rules, material: "a, b"))
        calls = [
            Call(template="keywords", inputs={"count": 2}, text=f"Text {number}.") for number in range(NOTED_TOGETHER)
        ]
        for call in calls:
            await asking.ask(call, str.upper)
        async with library.database.begin() as connection:
            await connection.execute(update(model_results).values(used_at=NOW - timedelta(days=KEPT_DAYS + 1)))
        again = asker(library, SayingModel(lambda rules, material: pytest.fail("asked twice")))
        for call in calls:
            assert await again.ask(call, str.upper) == "A, B"
        assert await prune(library, NOW) == 0
        assert await prune(library) == NOTED_TOGETHER


async def test_what_was_said_of_pictures_stays_while_a_document_has_them(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        library.describer = asking(library, Model())
        await index(library, PIPELINE, valve=white_png())
        assert await kept(library.database) == 1
        assert await prune(library) == 0
        await run(library, SayingModel(say))  # what else is asked about the document lets go of none
        assert await prune(library) == 0
        assert await kept(library.database) == 3
        await index(library, PIPELINE, valve=white_png(9, 9))
        assert await prune(library, NOW + timedelta(days=KEPT_DAYS - 1)) == 0
        assert await prune(library) == 1
        await remove(library, ["s:valve"])
        assert await prune(library) == 3


async def test_results_of_a_whole_knowledge_base_and_pages_of_others(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        results = ModelResults(library.database)

        async def put(keys: Sequence[str], owner: str) -> None:
            for key in keys:
                await results.put(ModelResult(key=key, task="t", model="m", text="x"), Use(owner=owner, purpose="p"))

        await put(["whole"], of_all("kb"))
        await put(["gone"], of_all("other"))
        await put(["live"], "s:leave")
        await put([f"{number:05}" for number in range(PAGE + 3)], "")
        assert await prune(library) == PAGE + 4
        assert await prune(library, NOW + timedelta(days=KEPT_DAYS_OF_ALL + 1)) == 1
        assert await kept(library.database) == 1
        await results.release(["s:leave"], "another", LATER)
        assert await prune(library) == 0
        await results.release(["s:leave"], "p", LATER)
        assert await prune(library) == 1


async def test_it_is_looked_for_once_a_day(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        results = ModelResults(library.database)
        await results.put(ModelResult(key="k", task="t", model="m", text="x"))
        assert await results.prune() == 0
        async with library.database.begin() as connection:
            await connection.execute(update(model_results).values(used_at=NOW - timedelta(days=KEPT_DAYS + 1)))
        assert await results.prune() == 0
        assert await results.prune(now=datetime.now(UTC) + timedelta(days=1)) == 1
