import pathlib
import re
import subprocess
import sys
import tomllib

import pytest

from bots.settings import init_toml, load_settings
from bots.settings.reference import measured_defaults, settings_reference
from tests.fakes.settings import write

ROOT = pathlib.Path(__file__).resolve().parents[3]


def test_init_writes_a_file_that_is_read():
    write(init_toml(["slack:T0123", "*"]))
    settings = load_settings()
    assert settings.knowledge_bases["documents"].readers == ("slack:T0123", "*")
    assert settings.sources[0].name == "documents"
    with pytest.raises(ValueError, match="no reader"):
        init_toml(["everyone"])


def test_init_has_no_setting_that_is_wrong_when_switched_on(monkeypatch):
    for name in re.findall(r"\$\{(\w+)\}", init_toml()):
        monkeypatch.setenv(name, "xoxb-1")
    switched_on = re.sub(r"(?m)^#(?=\S)", "", init_toml())
    assert len(tomllib.loads(switched_on)) > 7
    write(switched_on)
    load_settings()


def test_the_reference_is_up_to_date():
    assert (ROOT / "docs/settings.md").read_text(encoding="utf-8") == settings_reference(), (
        "run: python -m bots.settings docs/settings.md"
    )


def test_every_key_is_described():
    rows = [row for row in settings_reference().splitlines() if row.startswith("| `")]
    assert len(rows) > 60
    assert all(re.split(r"(?<!\\)\|", row)[-2].strip() for row in rows)


def test_every_default_that_was_measured_is_shown():
    page = settings_reference()
    for (table, key), value in measured_defaults().items():
        section = page.partition(f"## `[{table}")[2].partition("\n## ")[0]
        row = next(row for row in section.splitlines() if row.startswith(f"| `{key}` |"))
        assert row.split(" | ")[2] == f"`{value:g}`"


def test_settings_import_nothing_heavy():
    code = (
        "import sys, bots.settings; "
        "print([m for m in ('chromadb', 'openai', 'numpy', 'sqlalchemy', 'typer', 'connectors') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_the_example_is_read():
    settings = load_settings(ROOT / "examples/citebot.toml")
    assert settings.data_dir == ROOT / "examples/.citebot"
    assert [base.readers for base in settings.all_knowledge_bases.values()] == [("*",)]
    assert (settings.folder / settings.sources[0].options["path"]).is_dir()
