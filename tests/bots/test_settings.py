import pathlib
import re
import subprocess
import sys
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, SecretStr

from bots.settings import init_toml, load_settings, normal_reader, reader_kind, settings_reference
from bots.settings.grammar import normal_schedule
from ragcore.errors import ConfigError

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _nowhere(tmp_path, monkeypatch):
    """Stand in an empty folder, with none of the variables that settings read."""
    monkeypatch.chdir(tmp_path)
    import os

    for name in list(os.environ):
        if name.startswith("CITEBOT_") or name.endswith(("_API_KEY", "_TOKEN", "_SIGNING_SECRET")):
            monkeypatch.delenv(name)


def write(text, path=pathlib.Path("citebot.toml")):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(text, **kwargs):
    write(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(**kwargs)
    return str(caught.value)


def test_without_a_file_every_default_stands(tmp_path):
    settings = load_settings()
    assert settings.data_dir == tmp_path / ".citebot"
    assert settings.llm is None
    assert settings.embedding.provider == "minilm"
    assert settings.file is None
    assert settings.sources == ()
    assert not settings.all_knowledge_bases


def test_the_example_of_the_design_is_read():
    write("""
        data_dir = ".citebot"
        admins = ["slack:T0123/@U1"]
        [llm]
        base_url = "https://api.openai.com/v1"
        model = "gpt-4.1-mini"
        extra_body = {thinking = {type = "disabled"}}
        [llm.tasks.rewrite]
        temperature = 0
        [embedding]
        provider = "minilm"
        [chroma]
        url = "http://host:8000"
        [database]
        url = "postgresql+asyncpg://user:hidden@host/db"
        [answer]
        top_n = 8
        link_hosts = ["wiki.example"]
        [knowledge_bases.handbook]
        description = "How we work"
        chunking = "naive"
        readers = ["slack:T0123"]
        prompt = "prompts/handbook.j2"
        [knowledge_bases."文档库"]
        [[sources]]
        name = "handbook"
        type = "files"
        knowledge_base = "handbook"
        schedule = "15m"
        path = "./handbook"
        base_url = "https://wiki.example/{path}"
        [slack]
        [discord]
        message_content = "off"
        [telegram]
        [[channels]]
        id = "slack:T0123/C0456"
        knowledge_bases = ["handbook"]
        respond = "mention"
    """)
    settings = load_settings()
    assert settings.llm.tasks["rewrite"].temperature == 0
    assert settings.knowledge_bases["handbook"].prompt == pathlib.Path("prompts/handbook.j2").absolute()
    assert settings.sources[0].options == {"path": "./handbook", "base_url": "https://wiki.example/{path}"}
    assert settings.sources[0].schedule == "15m"
    assert settings.channels[0].respond == "mention"
    assert "hidden" not in repr(settings)


def test_paths_are_relative_to_the_file_that_names_them(tmp_path):
    write('data_dir = "data"\n[answer]\nsynonyms = "words.txt"\n', tmp_path / "etc" / "bot.toml")
    settings = load_settings(pathlib.Path("etc/bot.toml"))
    assert settings.data_dir == tmp_path / "etc" / "data"
    assert settings.answer.synonyms == tmp_path / "etc" / "words.txt"
    assert settings.folder == tmp_path / "etc"
    write("", tmp_path / "etc" / "bot.toml")
    assert load_settings(pathlib.Path("etc/bot.toml")).data_dir == tmp_path / "etc" / ".citebot"


def test_the_file_is_the_option_then_the_variable_then_the_working_directory(monkeypatch, tmp_path):
    write("[answer]\ntop_n = 1\n")
    write("[answer]\ntop_n = 2\n", tmp_path / "two.toml")
    write("[answer]\ntop_n = 3\n", tmp_path / "three.toml")
    assert load_settings().answer.top_n == 1
    monkeypatch.setenv("CITEBOT_CONFIG", "two.toml")
    assert load_settings().answer.top_n == 2
    assert load_settings(tmp_path / "three.toml").answer.top_n == 3


def test_a_named_file_must_be_there(monkeypatch):
    with pytest.raises(ConfigError, match=r"missing\.toml: no such file, but --config names it"):
        load_settings(pathlib.Path("missing.toml"))
    monkeypatch.setenv("CITEBOT_CONFIG", "gone.toml")
    with pytest.raises(ConfigError, match=r"gone\.toml: no such file, but CITEBOT_CONFIG names it"):
        load_settings()


def test_the_environment_wins_over_the_file(monkeypatch, tmp_path):
    write('data_dir = "a"\n[answer]\ntop_n = 1\ntop_k = 50\n[knowledge_bases."HR Team"]\ndescription = "x"\n')
    monkeypatch.setenv("CITEBOT_DATA_DIR", "b")
    monkeypatch.setenv("CITEBOT_ANSWER__TOP_N", "9")
    monkeypatch.setenv("CITEBOT_ANSWER__QUOTE", "")
    monkeypatch.setenv("CITEBOT_KNOWLEDGE_BASES__HR_TEAM__READERS", "slack:T1, email:Ann@Example.org")
    monkeypatch.setenv("CITEBOT_LLM__MODEL", "m")
    monkeypatch.setenv("CITEBOT_LLM__EXTRA_BODY", '{"seed": 1}')
    settings = load_settings()
    assert settings.data_dir == tmp_path / "b"
    assert (settings.answer.top_n, settings.answer.top_k, settings.answer.quote) == (9, 50, True)
    assert settings.knowledge_bases["HR Team"].readers == ("slack:T1", "email:ann@example.org")
    assert settings.knowledge_bases["HR Team"].description == "x"
    assert settings.llm.extra_body == {"seed": 1}


def test_the_environment_reaches_into_sources_by_name(monkeypatch):
    write('[[sources]]\nname = "wiki-1"\ntype = "files"\npath = "a"\n')
    monkeypatch.setenv("CITEBOT_SOURCES__WIKI_1__PATH", "/srv/b")
    monkeypatch.setenv("CITEBOT_SOURCES__MORE__TYPE", "files")
    monkeypatch.setenv("CITEBOT_CHANNELS", '[{"id": "telegram:-5", "respond": "off"}]')
    settings = load_settings()
    assert [(source.name, dict(source.options)) for source in settings.sources] == [
        ("wiki-1", {"path": "/srv/b"}),
        ("more", {}),
    ]
    assert settings.channels[0].id == "telegram:-5"


def test_secrets_come_from_their_usual_names_last(monkeypatch):
    for name in ("OPENAI_API_KEY", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "DISCORD_TOKEN"):
        monkeypatch.setenv(name, f"usual {name}\n")
    monkeypatch.setenv("TELEGRAM_BOT_TOKEN", "t")
    write('[llm]\nmodel = "m"\napi_key = "in the file"\n[slack]\napp_token = "in the file"\n')
    monkeypatch.setenv("CITEBOT_SLACK__APP_TOKEN", "override")
    settings = load_settings()
    assert settings.llm.api_key.get_secret_value() == "in the file"
    assert settings.embedding.api_key.get_secret_value() == "usual OPENAI_API_KEY"
    assert settings.slack.bot_token.get_secret_value() == "usual SLACK_BOT_TOKEN"
    assert settings.slack.app_token.get_secret_value() == "override"
    assert settings.slack.signing_secret.get_secret_value() == "usual SLACK_SIGNING_SECRET"
    assert settings.discord.token.get_secret_value() == "usual DISCORD_TOKEN"
    assert settings.telegram.bot_token.get_secret_value() == "t"
    for shown in (repr(settings), str(settings), repr(settings.model_dump(exclude={"knowledge_bases"}))):
        assert "usual" not in shown
        assert "in the file" not in shown


def test_a_key_alone_asks_for_no_model(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert load_settings().llm is None


def test_variables_in_values_are_read_from_the_environment(monkeypatch):
    monkeypatch.setenv("DB_PASSWORD", "pw")
    monkeypatch.setenv("TEAM", "T0123")
    write("""
        [database]
        url = "postgresql+asyncpg://u:${DB_PASSWORD}@h/d"
        [knowledge_bases.k]
        readers = ["slack:${TEAM}"]
        description = "costs $5 and ${5}"
        [[sources]]
        name = "s"
        type = "files"
        path = "/x/${TEAM}"
    """)
    settings = load_settings()
    assert settings.database.url.get_secret_value() == "postgresql+asyncpg://u:pw@h/d"
    assert settings.knowledge_bases["k"].readers == ("slack:T0123",)
    assert settings.knowledge_bases["k"].description == "costs $5 and ${5}"
    assert settings.sources[0].options["path"] == "/x/T0123"


def test_a_missing_variable_is_named_with_its_setting():
    text = refusal('[llm]\nmodel = "m"\napi_key = "${NO_SUCH_KEY}"\n')
    assert text == (
        "citebot.toml: [llm] api_key: names ${NO_SUCH_KEY}, but the environment has no NO_SUCH_KEY; "
        "set it, or write the value"
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[answer]\ntop_m = 3\n", 'citebot.toml: [answer] top_m: is not known; did you mean "top_n"?'),
        ("[anwser]\ntop_n = 3\n", 'citebot.toml: anwser: is not known; did you mean "answer"?'),
        ("[answer]\ntemperature = 3\n", "citebot.toml: [answer] temperature: is not known here; it belongs to [llm]"),
        ('[answer]\ntop_n = "six"\n', "citebot.toml: [answer] top_n: must be a whole number without quotes, such as 8"),
        ("[answer]\ntop_n = 0\n", "citebot.toml: [answer] top_n: must be more than 0"),
        ('[answer]\nquote = "perhaps"\n', "citebot.toml: [answer] quote: must be true or false, without quotes"),
        ('[answer]\nunsupported = "hide"\n', 'citebot.toml: [answer] unsupported: must be "mark" or "withhold"'),
        (
            "[answer]\nempty_response = 5\n",
            'citebot.toml: [answer] empty_response: must be text in quotes, such as "text"',
        ),
        ('[answer]\nlink_hosts = "a.b"\n', 'citebot.toml: [answer] link_hosts: must be a list, such as ["one", "two"]'),
        ("data_dir = 5\n", 'citebot.toml: data_dir: must be a path in quotes, such as "./folder"'),
        ("llm = 5\n", "citebot.toml: llm: must be a table of keys and values"),
        ("sources = {}\n", 'citebot.toml: sources: must be a list, such as ["one", "two"]'),
        ("[llm]\ntemperature = 0.5\n", "citebot.toml: [llm] model: is missing"),
        ('[llm]\nmodel = "m"\ntasks = {rewrite = {top = 1}}\n', "citebot.toml: [llm.tasks.rewrite] top: is not known"),
        ('[[sources]]\ntype = "files"\n', "citebot.toml: [[sources]] number 1, name: is missing"),
        ('[[sources]]\nname = "a:b"\ntype = "files"\n', 'citebot.toml: [[sources]] "a:b", name: must not hold ":"'),
        (
            '[[sources]]\nname = "a"\ntype = "files"\n[[sources]]\nname = "a"\ntype = "files"\n',
            'citebot.toml: [[sources]] "a", name: stands twice; each must be there once',
        ),
        (
            '[[sources]]\nname = "a"\ntype = "files"\nschedule = "hourly"\n',
            'citebot.toml: [[sources]] "a", schedule: "hourly" is no schedule: write a period',
        ),
        (
            '[knowledge_bases.a]\nreaders = ["slack:T1", "#general"]\n',
            'citebot.toml: [knowledge_bases.a] readers, entry 2: "#general" is no reader: it must be "*" (anyone)',
        ),
        (
            '[knowledge_bases.handbook]\n[[channels]]\nid = "telegram:1"\nknowledge_bases = ["handbok"]\n',
            'citebot.toml: [[channels]] "telegram:1", knowledge_bases, entry 1: "handbok" is not known; '
            'did you mean "handbook"?',
        ),
        ('[embedding]\nprovider = "openai"\n', "citebot.toml: embedding: model is missing"),
        ('[chroma]\nurl = "host:8000"\n', 'citebot.toml: [chroma] url: must be an address that starts with "http://"'),
        ("a = \n", "citebot.toml: not valid TOML: Invalid value (at line 1, column 5)"),
    ],
)
def test_a_fault_is_one_line_with_place_and_mend(text, line):
    message = refusal(text)
    assert message.startswith(line)
    assert len(message.splitlines()) == 1


def test_all_problems_are_told_at_once():
    lines = refusal('x = 1\n[answer]\ntop_n = "a"\n[llm]\nmodel = "${NOPE}"\n').splitlines()
    assert len(lines) == 3


def test_a_file_that_is_no_utf8_is_told():
    pathlib.Path("citebot.toml").write_bytes("data_dir = 'x'\n# Müll\n".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"citebot\.toml: line 2 is not UTF-8"):
        load_settings()


def test_a_byte_order_mark_does_no_harm():
    pathlib.Path("citebot.toml").write_bytes(b"\xef\xbb\xbfdata_dir = 'x'\n")
    assert load_settings().data_dir.name == "x"


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("CITEBOT_ANSWR__TOP_N", "3", 'CITEBOT_ANSWR__TOP_N: is not known; did you mean "CITEBOT_ANSWER"?'),
        ("CITEBOT_DATADIR", "3", 'CITEBOT_DATADIR: is not known; did you mean "CITEBOT_DATA_DIR"?'),
        ("CITEBOT_ANSWER__TOP_M", "3", 'CITEBOT_ANSWER__TOP_M: is not known; did you mean "top_n"?'),
        ("CITEBOT_ANSWER__TOP_N", "six", "CITEBOT_ANSWER__TOP_N: must be a whole number"),
        ("CITEBOT_CHANNELS", "[{", "CITEBOT_CHANNELS: must be a list"),
        ("CITEBOT_LLM__API_KEY", "${NOPE}", "CITEBOT_LLM__API_KEY: names ${NOPE}, but the environment has no NOPE"),
    ],
)
def test_a_fault_of_a_variable_names_the_variable(monkeypatch, name, value, line):
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError) as caught:
        load_settings()
    assert str(caught.value).startswith(line)


def test_a_variable_of_someone_else_is_left_alone(monkeypatch):
    monkeypatch.setenv("CITEBOT_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("CITEBOT_PORT_8080_TCP", "tcp://10.0.0.1:8080")
    load_settings()


SECRET = "sk-very-secret-4711"


@pytest.mark.parametrize(
    "text",
    [
        f'[llm]\nmodel = "m"\napi_key = ["{SECRET}"]\n',
        f'[llm]\nmodel = "m"\napi_kei = "{SECRET}"\n',
        f'[llm]\nmodel = ["{SECRET}"]\n',
        f'[slack]\nbot_token = {{a = "{SECRET}"}}\n',
        f'[database]\nurl = ["postgresql://u:{SECRET}@h"]\n',
        f'[llm]\nmodel = "m"\nbase_url = "{SECRET}"\n',
        f'[[sources]]\nname = "a"\ntype = "k"\ntoken = ["{SECRET}"]\n',
        f'llm = "{SECRET}"\n',
    ],
)
def test_no_error_shows_a_value(text):
    class Options(BaseModel):
        model_config = ConfigDict(extra="forbid")
        token: SecretStr

    write(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(source_model=lambda _: Options)
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(caught.value)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid")
    path: str


def model_of(kind):
    if kind != "files":
        raise ConfigError(f'"{kind}" is no type')
    return Options


def test_keys_of_a_source_are_checked_by_its_type():
    head = '[[sources]]\nname = "a"\ntype = "files"\n'
    assert refusal(head + 'pth = "x"\n', source_model=model_of).splitlines() == [
        'citebot.toml: [[sources]] "a", path: is missing',
        'citebot.toml: [[sources]] "a", pth: is not known; did you mean "path"?',
    ]
    assert refusal(head + 'path = "x"\nshedule = "1h"\n', source_model=model_of).endswith('did you mean "schedule"?')
    assert refusal(head + "path = 5\n", source_model=model_of).endswith('must be text in quotes, such as "text"')
    assert refusal('[[sources]]\nname = "a"\ntype = "fils"\n', source_model=model_of) == (
        'citebot.toml: [[sources]] "a", type: "fils" is no type'
    )


def test_a_source_declares_its_knowledge_base():
    write('[knowledge_bases.k]\nreaders = ["*"]\n[[sources]]\nname = "a"\ntype = "files"\n')
    settings = load_settings()
    assert settings.sources[0].knowledge_base == "a"
    assert {name: base.readers for name, base in settings.all_knowledge_bases.items()} == {"a": (), "k": ("*",)}


def test_settings_are_frozen():
    settings = load_settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.data_dir = pathlib.Path()
    with pytest.raises(TypeError):
        settings.knowledge_bases["x"] = None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("*", "everyone"),
        ("slack:T0123", "workspace"),
        ("discord:1234", "workspace"),
        ("slack:T0123/C0456", "channel"),
        ("discord:12/34", "channel"),
        ("telegram:-1001234", "channel"),
        ("slack:T0123/@U1", "person"),
        ("discord:@12", "person"),
        ("telegram:@12", "person"),
        ("email:ann@example.org", "email"),
    ],
)
def test_every_form_of_a_reader_is_known(text, kind):
    assert normal_reader(text) == text
    assert reader_kind(text) == kind


@pytest.mark.parametrize(
    "text",
    ["", "slack", "slack:", "slack:general", "slack:T1/#x", "telegram:@ann", "discord:x", "email:ann", "**", "T0123"],
)
def test_what_is_no_reader_is_refused(text):
    with pytest.raises(ValueError, match="is no reader"):
        normal_reader(text)


@pytest.mark.parametrize(
    "text",
    [
        "15m",
        "2h",
        "1d",
        "90s",
        "*/15 * * * *",
        "0 6 * * mon-fri",
        "0,30 8-18/2 1 jan,FEB 0-5",
        "0 6 * * * Europe/Berlin",
    ],
)
def test_schedules_are_accepted(text):
    assert normal_schedule(text) == text


@pytest.mark.parametrize(
    "text",
    ["", "15", "0m", "30s", "15 minutes", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "*/0 * * * *", "5-1 * * * *",
     "* * * * * Mars/Base", "a * * * *", "1-2-3 * * * *", ", * * * *"],
)  # fmt: skip
def test_what_is_no_schedule_is_refused(text):
    with pytest.raises(ValueError, match=r"schedule|often|time zone|cron"):
        normal_schedule(text)


@given(st.text(max_size=30))
def test_grammar_never_fails_otherwise(text):
    for check in (normal_reader, normal_schedule):
        try:
            normal = check(text)
        except ValueError:
            continue
        assert check(normal) == normal


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.sampled_from(["data_dir", "llm", "answer", "knowledge_bases", "sources", "channels", "slack", "x"]),
        json_values,
    )
)
def test_any_table_is_read_or_refused_in_lines(table):
    import json
    import unittest.mock

    with unittest.mock.patch("bots.settings.loading._read", return_value=table):
        pathlib.Path("any.toml").touch()
        try:
            load_settings(pathlib.Path("any.toml"), source_model=model_of)
        except ConfigError as error:
            lines = str(error).splitlines()
            assert lines, json.dumps(table)
            assert all(": " in line for line in lines)


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
