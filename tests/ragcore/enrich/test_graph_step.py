"""What a model reads out for the knowledge graph stands with its chunk, lives and goes with it, and is asked for once."""

import json
import pathlib
from dataclasses import replace

import pytest
from sqlalchemy import func, select

from ragcore.enrich.asking import MOST_ATTEMPTS
from ragcore.enrich.making import chunks_of
from ragcore.enrich.options import EnrichOptions
from ragcore.graph.names import names_asked
from ragcore.graph.values import ChunkGraph
from ragcore.graph.walking import lines_of
from ragcore.library import Library
from ragcore.library.recovery import check
from ragcore.library.upkeep import sweep
from ragcore.stores.graphs import Admitted, Graphs
from ragcore.stores.health import IndexState
from ragcore.stores.rows import Document, generation_of
from ragcore.stores.schema import graph_names, graph_relations
from tests.conftest import BENCH
from tests.fakes.libraries import fill, opened
from tests.ragcore.graph.telling import read_out, told

TEXTS = {
    "acme": "# Acme\n\nAnn Lee founded Acme.\n\n# Owner\n\nBob Kay owns Acme.",
    "berlin": "# Berlin\n\nBy contract the International Fruit Board (IFB) supplies Berlin.",
    "empty": "# Nothing\n\nnothing is named here at all.",
}
NAMED = ["acme", "ann lee", "berlin", "bob kay", "ifb", "international fruit board"]


async def graphs(library: Library, document_id: str) -> list[ChunkGraph]:
    document = (await library.registry.documents([document_id]))[document_id]
    return [one.graph async for page in chunks_of(library, document) for one in page if one.graph]


async def rows(library: Library) -> tuple[list[str], list[str], int]:
    """Return the keys of names and the lines of relations that stand in the tables, and how many rows both have."""
    async with library.database.connect() as connection:
        names = (await connection.scalars(select(graph_names.c.key).distinct().order_by(graph_names.c.key))).all()
        said = (await connection.scalars(select(graph_relations.c.said).order_by(graph_relations.c.said))).all()
        count = sum(
            [await connection.scalar(select(func.count()).select_from(t)) or 0 for t in (graph_names, graph_relations)]
        )
    return list(names), list(said), count


async def test_each_chunk_gets_its_part_and_the_tables_follow(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        assert await rows(library) == ([], [], 0)
        report = await told(library)
        assert (report.documents, report.chunks, report.usage.calls, report.failed) == (3, 4, 4, ())
        founded, owned = await graphs(library, "s:acme")
        assert [one.name for one in founded.entities] == ["Ann Lee", "Acme"]
        assert founded.line_of(founded.relations[0]) == "Ann Lee – Acme: Ann Lee founded Acme"
        assert [one.name for one in owned.entities] == ["Bob Kay", "Acme"]
        (board,) = await graphs(library, "s:berlin")
        assert board.entities[0].also == (("IFB", "International Fruit Board"),)
        assert await graphs(library, "s:empty") == []
        names, said, _ = await rows(library)
        assert names == NAMED
        assert said == [
            "Ann Lee – Acme: Ann Lee founded Acme",
            "Bob Kay – Acme: Bob Kay owns Acme",
            "International Fruit Board – Berlin: International Fruit Board (IFB) supplies Berlin",
        ]
        again = await told(library)
        assert (again.documents, again.usage.calls) == (0, 0)
        assert {health.state for health in await check(library)} == {IndexState.WELL}


async def test_a_change_and_a_deletion_take_the_rows_with_them(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await told(library)
        await fill(library, {"acme": TEXTS["acme"].replace("Bob Kay", "Cleo Day")})
        assert "bob kay" not in (await rows(library))[0], "until the pass comes, the new version has none"
        report = await told(library)
        assert (report.documents, report.usage.calls, report.cached) == (1, 1, 1)
        assert (await rows(library))[0] == sorted({*NAMED, "cleo day"} - {"bob kay"})
        await library.staging.tombstone(["s:acme", "s:berlin"])
        await sweep(library)
        assert await rows(library) == ([], [], 0)


async def test_switched_off_it_goes_and_back_on_it_costs_nothing(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await told(library)
        before = await rows(library)
        assert (await told(library, options=EnrichOptions())).usage.calls == 0
        assert await rows(library) == ([], [], 0)
        back = await told(library)
        assert (back.usage.calls, back.cached) == (0, 4)
        assert (await rows(library)) == before
        # Another step beside it keeps it, also where that step fails.
        both = EnrichOptions(graph=True, auto_keywords=1)
        failing = await told(
            library, lambda rules, text: "" if "You name what" in rules else read_out(rules, text), both
        )
        assert failing.failed
        assert (await rows(library)) == before


@pytest.mark.parametrize("reply", ['{"entities": [{"name": "Zed"}]}', '{"entities": ['])
async def test_rubbish_leaves_the_chunk_as_it_is_and_is_asked_a_few_times(tmp_path: pathlib.Path, reply: str) -> None:
    def say(rules: str, material: str) -> str:
        return reply if "Bob" in material else read_out(rules, material)

    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        for _ in range(1, MOST_ATTEMPTS):
            report = await told(library, say)
            assert [(one.document_id, one.chunks) for one in report.failed] == [("s:acme", 1)]
            assert "ann lee" in (await rows(library))[0]
        assert not (await told(library, say)).failed
        assert (await told(library, say)).documents == 0
        assert "bob kay" not in (await rows(library))[0]
        assert len(await library.registry.chunks_of(["s:acme"])) == 2


async def test_what_was_staged_before_a_crash_is_not_live_and_goes(tmp_path: pathlib.Path) -> None:
    async with opened(tmp_path) as library:
        await fill(library, TEXTS)
        await told(library)
        live = await rows(library)
        document = (await library.registry.documents(["s:acme"]))["s:acme"]
        await _staged(library, document)
        await _staged(library, document)
        assert (await rows(library))[2] > live[2]
    async with opened(tmp_path) as library:
        await sweep(library)
        assert await rows(library) == live


async def _staged(library: Library, document: Document) -> None:
    """Write a generation as a process does that is killed before it is switched live."""
    fresh = [
        replace(one, chunk=replace(one.chunk, id=f"{'f' * 32}-{one.chunk.ordinal}"))
        async for page in chunks_of(library, document)
        for one in page
    ]
    assert {generation_of(one.chunk.id) for one in fresh} == {"f" * 32}
    await library.staging.stage(fresh)


async def test_a_real_page_is_read_out_and_a_question_leads_to_what_it_tells(tmp_path: pathlib.Path) -> None:
    page = BENCH / "documents" / "fastapi-background-tasks.md"
    if not page.exists():
        pytest.skip("the public data sets are not beside this checkout (../shared/bench)")
    names = ("FastAPI", "Starlette", "Celery", "RabbitMQ", "Redis", "Atlantis")

    def say(rules: str, material: str) -> str:
        """Tell which of some names stand together in a line of the text, and one that stands nowhere."""
        found = [name for name in names if name in material]
        lines = [(line, [name for name in found if name in line]) for line in material.splitlines()]
        relations = [
            {"source": held[0], "target": other, "description": line[:200]}
            for line, held in lines
            for other in held[1:]
        ]
        entities = [{"name": name, "description": f"{name} of the text"} for name in (*found, "Atlantis")]
        return json.dumps({"entities": entities if found else [], "relations": relations})

    async with opened(tmp_path) as library:
        await fill(library, {"page": page.read_bytes()})
        report = await told(library, say)
        assert (report.documents, report.failed) == (1, ())
        told_names, said, _ = await rows(library)
        assert {"celery", "rabbitmq", "redis"} <= set(told_names)
        assert "atlantis" not in told_names
        assert said
        asked = names_asked("Which queue manager is used beside RabbitMQ?")
        known = await Graphs(library.database).known(["kb"], asked)
        around = await Graphs(library.database).around("kb", asked, known["kb"], Admitted())
        assert around is not None
        lines = lines_of(around, "Which queue manager is used beside RabbitMQ?")
        chunks = {chunk.id: chunk.text for chunk in await library.registry.chunks_of(["s:page"])}
        assert lines[0].said.startswith("RabbitMQ – Redis: ")
        assert "queue manager" in lines[0].said
        assert all("RabbitMQ" in chunks[line.chunk_id] for line in lines if line.is_asked)
