import pathlib

import pytest

from bots.settings import load_settings
from ragcore.errors import ConfigError
from tests.fakes.settings import write


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
    write('data_dir = "data"\nprompts = "own"\n[answer]\nsynonyms = "words.txt"\n', tmp_path / "etc" / "bot.toml")
    settings = load_settings(pathlib.Path("etc/bot.toml"))
    assert settings.data_dir == tmp_path / "etc" / "data"
    assert settings.prompts == tmp_path / "etc" / "own"
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


def test_a_password_within_an_address_is_not_shown():
    write(
        '[llm]\nmodel = "m"\nbase_url = "https://u:hidden@host/v1"\n[embedding]\nbase_url = "http://hidden@host"\n'
        '[chroma]\nurl = "http://u:hid@den@host:8000"\n'
    )
    settings = load_settings()
    assert settings.llm.base_url == "https://u:hidden@host/v1"
    for shown in (repr(settings), str(settings), repr(settings.llm), str(settings.chroma)):
        assert "hid" not in shown
        assert "host" in shown


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


def test_a_file_that_is_no_utf8_is_told():
    pathlib.Path("citebot.toml").write_bytes("data_dir = 'x'\n# Müll\n".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"citebot\.toml: line 2 is not UTF-8"):
        load_settings()


def test_a_byte_order_mark_does_no_harm():
    pathlib.Path("citebot.toml").write_bytes(b"\xef\xbb\xbfdata_dir = 'x'\n")
    assert load_settings().data_dir.name == "x"


def test_a_variable_of_someone_else_is_left_alone(monkeypatch):
    monkeypatch.setenv("CITEBOT_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("CITEBOT_PORT_8080_TCP", "tcp://10.0.0.1:8080")
    load_settings()


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


def test_chunk_methods_by_file_pattern_are_read_from_the_environment_too(monkeypatch):
    write('[knowledge_bases.a]\nchunking = {"*" = "naive"}\n')
    monkeypatch.setenv("CITEBOT_KNOWLEDGE_BASES__A__CHUNKING", '{"*.md": "naive"}')
    chunking = load_settings().knowledge_bases["a"].chunking
    assert list(chunking.items()) == [("*.md", "naive"), ("*", "naive")]
    assert load_settings().knowledge_bases["a"].model_dump(mode="json")["chunking"] == dict(chunking)
