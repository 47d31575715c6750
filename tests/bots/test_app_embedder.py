"""Another embedder in the settings: said at every turn, answered by words alone, and switched to by a full sync."""

import pathlib

from bots.app import Operations, open_operations
from bots.app.embedders import SizedEmbedder, open_embedder
from bots.requests import Ask, Check, Diagnose, ListSources, SourceState, Sync
from bots.settings import load_settings
from ragcore.reports import SyncReport
from ragcore.types import Answer
from tests.fakes.openai_server import DIMENSION, OpenAIServer

SOURCES = """
[knowledge_bases.handbook]
[[sources]]
name = "handbook"
type = "files"
path = "handbook"
"""


async def synced(operations: Operations, *, full: bool = False) -> SyncReport:
    (report,) = [one async for one in operations.run(Sync(full=full)) if isinstance(one, SyncReport)]
    return report


async def asked(operations: Operations) -> Answer:
    (answer,) = [one async for one in operations.run(Ask(question="How many leave days?")) if isinstance(one, Answer)]
    return answer


async def unwell(operations: Operations) -> list[Check]:
    checks = [one async for one in operations.run(Diagnose()) if isinstance(one, Check)]
    return [check for check in checks if check.name.startswith("index") and check.state != "ok"]


async def test_to_another_embedder_and_back(tmp_path: pathlib.Path) -> None:
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "leave.md").write_text("# Leave\n\nThere are 25 leave days a year.\n")
    file = tmp_path / "citebot.toml"
    async with OpenAIServer() as server:
        endpoint = f'[embedding]\nprovider = "openai"\nbase_url = "{server.base_url}"\nmodel = "m"\n'
        file.write_text(SOURCES)
        async with open_operations(load_settings(file)) as operations:
            assert not (await synced(operations)).warnings
        for settings in (endpoint + SOURCES, SOURCES):
            file.write_text(settings)
            async with open_operations(load_settings(file)) as operations:
                assert "25 leave days" in (await asked(operations)).raw_text
                assert "sync --full" in (await synced(operations)).warnings[0]
                (check,) = await unwell(operations)
                assert "sync --full" in check.mend
                full = await synced(operations, full=True)
                assert not full.warnings
                assert not full.error
                assert not await unwell(operations)
                answer = await asked(operations)
                assert "25 leave days" in answer.raw_text
                assert len(answer.notes) == 1, "only that no model is configured"
        assert any(request.path.endswith("/embeddings") for request in server.requests)


async def test_an_endpoint_that_was_never_up_stops_only_what_needs_it(tmp_path: pathlib.Path) -> None:
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "leave.md").write_text("# Leave\n\nThere are 25 leave days a year.\n")
    file = tmp_path / "citebot.toml"
    down = '[embedding]\nprovider = "openai"\nbase_url = "http://me:secret@127.0.0.1:9/v1"\nmodel = "m"\n'
    file.write_text(down + SOURCES)
    async with open_operations(load_settings(file)) as operations:
        (listed,) = [one async for one in operations.run(ListSources()) if isinstance(one, SourceState)]
        assert listed.name == "handbook"
        report = await synced(operations)
        assert "[embedding] at 127.0.0.1:9:" in report.error
        assert "secret" not in report.error
    async with OpenAIServer() as server:
        file.write_text(down.replace("http://me:secret@127.0.0.1:9/v1", server.base_url) + SOURCES)
        async with open_operations(load_settings(file)) as operations:
            assert not (await synced(operations)).error
    # The vectors are there, and nobody knows how long this endpoint's are: words find the document all the same.
    file.write_text(down + SOURCES)
    async with open_operations(load_settings(file)) as operations:
        assert not await unwell(operations)
        assert "25 leave days" in (await asked(operations)).raw_text


async def test_shorter_vectors_and_windows_of_the_settings_reach_the_endpoint(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "citebot.toml"
    async with OpenAIServer() as server:
        limits = f"dimension = {DIMENSION}\nmax_tokens = 16\n"
        file.write_text(f'[embedding]\nprovider = "openai"\nbase_url = "{server.base_url}"\nmodel = "m"\n{limits}')
        embedder = await open_embedder(load_settings(file))
        assert isinstance(embedder, SizedEmbedder)
        await embedder.embed(["word " * 40])
        await embedder.close()
        assert all(request.body["dimensions"] == DIMENSION for request in server.requests)
        assert len(server.requests[-1].body["input"]) > 1
