import pathlib

import pytest

from bots.app.options import ingest_options
from bots.settings import Settings, load_settings
from bots.settings.presets import PRESETS
from ragcore.chunk_methods import CHUNK_METHODS
from ragcore.chunking import ChunkOptions
from ragcore.errors import ConfigError


def settings_of(folder: pathlib.Path, table: str) -> Settings:
    (folder / "citebot.toml").write_text(f"[knowledge_bases.a]\n{table}\n")
    return load_settings(folder / "citebot.toml")


def chunk_of(folder: pathlib.Path, table: str) -> ChunkOptions:
    return ingest_options(settings_of(folder, table).all_knowledge_bases["a"]).chunk


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_method_and_size(tmp_path: pathlib.Path, name: str) -> None:
    preset = PRESETS[name]
    chunk = chunk_of(tmp_path, f'preset = "{name}"')
    assert preset.chunking in CHUNK_METHODS
    assert chunk == ChunkOptions(method=preset.chunking, chunk_tokens=preset.chunk_tokens)


def test_what_a_knowledge_base_sets_itself_stands(tmp_path: pathlib.Path) -> None:
    own = 'preset = "law"\nchunking = "manual"\nchunk_overlap = 0.25\ndelimiters = "!?"'
    expected = ChunkOptions(method="manual", chunk_tokens=512, overlap=0.25, delimiters="!?")
    assert chunk_of(tmp_path, own) == expected
    patterns = settings_of(tmp_path, 'preset = "law"\nchunking = {"*.csv" = "table", "*" = "laws"}')
    assert ingest_options(patterns.all_knowledge_bases["a"]).methods == (("*.csv", "table"), ("*", "laws"))
    assert chunk_of(tmp_path, 'preset = ""') == ChunkOptions()


def test_an_unknown_preset_lists_those_there_are(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_of(tmp_path, 'preset = "laws"')
    assert "[knowledge_bases.a] preset: " in str(caught.value)
    assert all(name in str(caught.value) for name in PRESETS)
    assert '"laws" is none of those there are' in str(caught.value)
    with pytest.raises(ConfigError):
        settings_of(tmp_path, "preset = 7")


def test_a_preset_counts_for_what_must_be_larger_than_its_chunks(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ConfigError, match="parent_tokens"):
        settings_of(tmp_path, 'preset = "law"\nparent_tokens = 300')
