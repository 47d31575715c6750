"""The source type ``reader`` with a real package of each kind. They are heavy: ``make soak`` installs them."""

import importlib.util

import pytest

from connectors.base import Origin
from connectors.reader import ReaderConnector, ReaderOptions
from tests.connectors.helpers import collect, known_of, listed, run
from tests.fakes.embedding import HashEmbedder
from tests.fakes.libraries import opened

KINDS = {
    "llama_index.core": {
        "loader": "llama_index.core.SimpleDirectoryReader",
        "arguments": {"input_dir": "notes", "recursive": True},
    },
    "langchain_community": {
        "loader": "langchain_community.document_loaders.DirectoryLoader",
        "arguments": {"path": "notes", "glob": "**/*.txt", "loader_kwargs": {"autodetect_encoding": False}},
    },
}


@pytest.fixture(params=sorted(KINDS))
def options(request) -> ReaderOptions:
    package = request.param
    if importlib.util.find_spec(package.partition(".")[0]) is None:
        pytest.skip(f"{package} isn't installed: `make soak` does, where a package registry can be reached")
    told = KINDS[package]
    if package == "langchain_community":
        # A DirectoryLoader wants a class for its files, which no setting can hold; a CSV file has a loader of its own.
        told = {
            "loader": "langchain_community.document_loaders.CSVLoader",
            "arguments": {"file_path": "notes/table.csv", "source_column": "name"},
        }
    return ReaderOptions.model_validate(told)


@pytest.mark.soak
async def test_a_real_reader_is_followed(options, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    is_table = "CSV" in options.loader
    origin = Origin(source="s", folder=tmp_path)

    def write(**texts: str) -> None:
        if is_table:
            (folder / "table.csv").write_text(
                "name,text\n" + "".join(f"{name},{text}\n" for name, text in texts.items())
            )
            return
        for old in folder.iterdir():
            old.unlink()
        for name, text in texts.items():
            (folder / f"{name}.txt").write_text(text)

    write(a="The valve turns left.", b="The pump is red.", c="The hose is long.")
    connector = ReaderConnector(origin, options)
    first, failures, _, _ = await collect(connector.changes(None, {}))
    assert not failures
    assert len(first) == 3
    again, _, _, _ = await collect(ReaderConnector(origin, options).changes(None, known_of(first)))
    assert again == {}, "the same is the same, whatever ids and times the package gives it"
    ids, _ = await listed(ReaderConnector(origin, options))
    assert ids == first.keys()
    async with opened(tmp_path / "data", HashEmbedder()) as library:
        report = await run(library, ReaderConnector(origin, options))
        assert (report.added, report.is_success) == (3, True)
        write(a="The valve turns right.", b="The pump is red.")
        report = await run(library, ReaderConnector(origin, options))
        assert (report.changed, report.deleted, report.unchanged) == (1, 1, 1)
