import json
import pathlib
import unittest.mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, SecretStr

from bots.settings import (
    AnswerSettings,
    ChannelSettings,
    ChromaSettings,
    DatabaseSettings,
    DiscordSettings,
    EmbeddingSettings,
    KnowledgeBaseSettings,
    LLMSettings,
    RerankSettings,
    Settings,
    SlackSettings,
    SourceSettings,
    TaskSettings,
    TelegramSettings,
    load_settings,
)
from connectors.registry import options_model
from ragcore.chunking import METHODS
from ragcore.errors import ConfigError
from tests.fakes.settings import refusal, write


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
            '[answer]\nlanguage = "klingon"\n',
            'citebot.toml: [answer] language: "klingon" is none of those there are: de,',
        ),
        (
            '[slack]\nask_command = "/search"\n',
            "citebot.toml: [slack] ask_command: must not be one of Slack's own commands: Slack would refuse the whole",
        ),
        (
            '[slack]\nask_command = "/docs"\nbot_command = "/docs"\n',
            "citebot.toml: [slack] bot_command: must be another name than ask_command",
        ),
        (
            '[knowledge_bases.a]\nchunking = "nave"\n',
            'citebot.toml: [knowledge_bases.a] chunking: "nave" is none of those there are: ',
        ),
        (
            '[knowledge_bases.a]\nchunking = {"*.md" = "naive", "*.xlsx" = "tabel"}\n',
            'citebot.toml: [knowledge_bases.a] chunking: "*.xlsx" = "tabel" is none of those there are: ',
        ),
        (
            '[knowledge_bases.a]\nqa_embed = "question"\nchunking = {"*.md" = "book"}\n',
            'citebot.toml: [knowledge_bases.a] qa_embed: needs chunking = "qa", or a file pattern with it: no other method finds pairs',
        ),
        (
            '[knowledge_bases.a]\ntags_from = ["labels"]\n[knowledge_bases.label]\nchunking = "tag"\n',
            'citebot.toml: [knowledge_bases.a] tags_from, entry 1: "labels" is not known; did you mean "label"?',
        ),
        (
            '[knowledge_bases.a]\ntags_from = ["b"]\n[knowledge_bases.b]\nchunking = {"*.md" = "qa"}\n',
            'citebot.toml: [knowledge_bases.a] tags_from, entry 1: "b" holds no tag set; set chunking = "tag" under [knowledge_bases.b]',
        ),
        (
            '[knowledge_bases.a]\nchunking = "tag"\ntags_from = ["a"]\n',
            'citebot.toml: [knowledge_bases.a] tags_from, entry 1: "a" is this knowledge base itself; name another one, which holds the tag set',
        ),
        (
            "[knowledge_bases.a]\nchunking = 5\n",
            'citebot.toml: [knowledge_bases.a] chunking: must be a chunk method, such as "naive", or one by file pattern',
        ),
        (
            '[knowledge_bases.a.chunking]\n"*.md" = 5\n',
            'citebot.toml: [knowledge_bases.a] chunking: must be a chunk method, such as "naive", or one by file pattern',
        ),
        (
            "[knowledge_bases.a]\nchunking = {}\n",
            "citebot.toml: [knowledge_bases.a] chunking: must name a method by file pattern",
        ),
        (
            '[knowledge_bases.a]\nchunking = {" " = "naive"}\n',
            "citebot.toml: [knowledge_bases.a] chunking: must name a method by file pattern",
        ),
        (
            "[answer]\nempty_response = 5\n",
            'citebot.toml: [answer] empty_response: must be text in quotes, such as "text"',
        ),
        ('[answer]\nlink_hosts = "a.b"\n', 'citebot.toml: [answer] link_hosts: must be a list, such as ["one", "two"]'),
        ("data_dir = 5\n", 'citebot.toml: data_dir: must be a path in quotes, such as "./folder"'),
        ("llm = 5\n", "citebot.toml: llm: must be a table of keys and values"),
        ("sources = {}\n", 'citebot.toml: sources: must be a list, such as ["one", "two"]'),
        ("[llm]\ntemperature = 0.5\n", "citebot.toml: [llm] model: is missing"),
        (
            '[llm]\nmodel = "m"\n[llm.tasks.anwser]\n',
            'citebot.toml: [llm] tasks, anwser: is not known; did you mean "answer"?',
        ),
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
        (
            '[knowledge_bases."a b"]\nreaders = []\n[knowledge_bases."a b"]\nreaders = ["*"]\n',
            "citebot.toml: not valid TOML: [knowledge_bases.a b] stands twice; write what belongs to it below the first "
            "one (at line 3,",
        ),
        (
            "[llm]\n[llm]\n",
            "citebot.toml: not valid TOML: [llm] stands twice; write what belongs to it below the first",
        ),
        (
            '[[sources]]\nname = "a"\n[sources]\nname = "b"\n',
            "citebot.toml: not valid TOML: [sources] stands beside [[sources]]; write two brackets around each",
        ),
        ("[llm]\nmodel = 1\nmodel = 2\n", "citebot.toml: not valid TOML: a key stands twice in one table"),
        (
            '[[channels]]\nid = "telegram:-1"\nadmins = ["telegram:@1"]\n',
            'citebot.toml: [[channels]] "telegram:-1", admins: is not known here; it belongs at the top of the file',
        ),
        (
            '[llm]\nmodel = "m"\ndata_dir = "x"\n',
            "citebot.toml: [llm] data_dir: is not known here; it belongs at the top of the file, before the first table",
        ),
    ],
)
def test_a_fault_is_one_line_with_place_and_mend(text, line):
    message = refusal(text)
    assert message.startswith(line)
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_chunk_method_can_be_chosen(method):
    write(f'[knowledge_bases.a]\nchunking = "{method}"\n[knowledge_bases.b]\nchunking = {{"*.md" = "{method}"}}\n')
    bases = load_settings().knowledge_bases
    assert bases["a"].chunking == method
    assert bases["b"].chunking == {"*.md": method}


def test_a_method_that_is_refused_is_told_with_those_there_are():
    told = refusal('[knowledge_bases.a]\nchunking = "nave"\n')
    assert all(method in told for method in METHODS)


def test_all_problems_are_told_at_once():
    lines = refusal('x = 1\n[answer]\ntop_n = "a"\n[llm]\nmodel = "${NOPE}"\n').splitlines()
    assert len(lines) == 3


TABLES = {
    "": Settings,
    "[llm]": LLMSettings,
    "[llm.tasks.rewrite]": TaskSettings,
    "[embedding]": EmbeddingSettings,
    "[rerank]": RerankSettings,
    "[chroma]": ChromaSettings,
    "[database]": DatabaseSettings,
    "[answer]": AnswerSettings,
    "[knowledge_bases.handbook]": KnowledgeBaseSettings,
    '[[sources]]\nname = "a"\ntype = "files"': SourceSettings,
    "[slack]": SlackSettings,
    "[discord]": DiscordSettings,
    "[telegram]": TelegramSettings,
    '[[channels]]\nid = "telegram:1"': ChannelSettings,
}


@pytest.mark.parametrize(
    ("table", "key"),
    [(t, k) for t, model in TABLES.items() for k, field in model.model_fields.items() if not field.exclude],
)
def test_every_key_is_recognised_with_its_last_letter_doubled(table, key):
    told = refusal(f"{table}\n{key}{key[-1]} = 1\n", source_model=lambda _: Anything)
    assert f'{key}{key[-1]}: is not known; did you mean "{key}"?' in told


class Anything(BaseModel):
    model_config = ConfigDict(extra="forbid")


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


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@example({"data_dir": None, "llm": {"\r\r": None}})
@given(
    st.dictionaries(
        st.sampled_from(["data_dir", "llm", "answer", "knowledge_bases", "sources", "channels", "slack", "x"]),
        json_values,
    )
)
def test_any_table_is_read_or_refused_in_lines(table):
    with unittest.mock.patch("bots.settings.loading._read", return_value=table):
        pathlib.Path("any.toml").touch()
        try:
            load_settings(pathlib.Path("any.toml"), source_model=model_of)
        except ConfigError as error:
            lines = str(error).splitlines()
            assert lines, json.dumps(table)
            assert all(": " in line for line in lines)


def test_a_key_of_the_top_below_a_source_is_told_where_it_belongs():
    text = '[[sources]]\nname = "a"\ntype = "files"\npath = "."\nadmins = ["telegram:@1"]\n'
    told = 'citebot.toml: [[sources]] "a", admins: is not known here; it belongs at the top of the file'
    assert refusal(text, source_model=options_model).startswith(told)
