import importlib.metadata
import pathlib
import sys
import types

import pytest
from pydantic import BaseModel, Field, SecretStr

from connectors.base import Options, Origin, SourceType, all_settings
from connectors.files import FILES, FilesConnector
from connectors.reference import sources_reference
from connectors.registry import BUILT_IN, connect, options_model, source_type, type_names
from ragcore.errors import ConfigError

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_types_are_found_by_name(tmp_path):
    assert "files" in type_names()
    assert source_type("files") is FILES
    assert issubclass(options_model("files"), Options)
    connector = connect("files", Origin(source="s", folder=tmp_path), {"path": "x"})
    assert isinstance(connector, FilesConnector)


def test_an_unknown_type_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match='"fils" is no type of source; did you mean "files"'):
        source_type("fils")
    with pytest.raises(ConfigError, match=r"there are .*files"):
        source_type("quantum")


def test_wrong_options_are_refused_without_their_values(tmp_path):
    with pytest.raises(ConfigError) as caught:
        connect("files", Origin(source="s", folder=tmp_path), {"path": ["hidden"], "x": "hidden"})
    assert 'source "s": path: ' in str(caught.value)
    assert "hidden" not in str(caught.value)


def test_another_package_adds_a_type(monkeypatch):
    module = types.ModuleType("their_package")
    module.KIND = SourceType(options=Options, create=lambda origin, options: None)
    module.WRONG = object()
    monkeypatch.setitem(sys.modules, "their_package", module)
    entries = importlib.metadata.EntryPoints(
        importlib.metadata.EntryPoint(name, value, "citebot.connectors")
        for name, value in (
            ("theirs", "their_package:KIND"),
            ("wrong", "their_package:WRONG"),
            ("missing", "no_such_package:KIND"),
            ("nameless", "their_package:NOTHING"),
        )
    )
    monkeypatch.setattr("connectors.registry.entry_points", entries.select)
    assert "theirs" in type_names()
    assert source_type("theirs") is module.KIND
    for name in ("wrong", "missing", "nameless"):
        with pytest.raises(ConfigError, match=f'the source type "{name}"'):
            source_type(name)


def test_the_reference_is_up_to_date():
    assert (ROOT / "docs/sources.md").read_text(encoding="utf-8") == sources_reference(), (
        "run: python -m connectors docs/sources.md"
    )


def test_the_readme_names_every_type() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in BUILT_IN if f"`{name}`" not in readme] == []


def test_every_key_is_described():
    for name in BUILT_IN:
        assert all(field.description for field in options_model(name).model_fields.values())


class Inner(BaseModel):
    token: SecretStr


class Kept(Options):
    password: SecretStr = SecretStr("a")
    headers: dict[str, SecretStr] = Field(default_factory=dict)
    keys: tuple[SecretStr, ...] = ()
    scopes: frozenset[str] = frozenset()
    inner: Inner | None = None


def test_a_secret_counts_wherever_it_stands_in_the_settings() -> None:
    """A source that pauses goes on when any of them changes."""
    told = [
        Kept(),
        Kept(password=SecretStr("b")),
        *(Kept(headers={"Authorization": SecretStr(text)}) for text in "ab"),
        *(Kept(keys=(SecretStr(text),)) for text in "ab"),
        *(Kept(inner=Inner(token=SecretStr(text))) for text in "ab"),
    ]
    prints = [all_settings(options) for options in told]
    assert len(set(prints)) == len(told)
    assert prints == [all_settings(options.model_copy(deep=True)) for options in told]
    headers = {"a": SecretStr("1"), "b": SecretStr("2")}
    assert all_settings(Kept(headers=headers)) == all_settings(Kept(headers=dict(reversed(headers.items()))))
