"""The ways in which a filter comes to a question: asked with, of a knowledge base, of a channel."""

import json
import pathlib
from dataclasses import replace

import pytest

from bots.app.options import drawn_fields, filters_of
from bots.doctor import check_enriching, check_filters
from bots.requests import Ask, Found, Search, Sync
from bots.settings import load_settings
from bots.turn.options import ChannelRule, turn_options
from ragcore.errors import ConfigError
from ragcore.filter_grammar import parse_filter
from ragcore.phrases import phrase
from ragcore.types import Support
from tests.bots.handbook import SETTINGS, answered, opened, told
from tests.bots.test_cli import Cli, cli, scripted
from tests.bots.turn.flows import OPTIONS, Model, flowing
from tests.fakes.openai_server import OpenAIServer, Reply, Request
from tests.fakes.operations import Scripted
from tests.fakes.platform import asked
from tests.fakes.virtual import run

__all__ = ["cli", "scripted"]


async def test_a_question_is_answered_from_what_meets_the_filter(home: pathlib.Path) -> None:
    question = "How many unused leave days may be carried over?"
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        answer = await answered(operations, Ask(question=question, filter="name ends with .md and source = handbook"))
        assert answer.support is Support.CITED
        nothing = await answered(operations, Ask(question=question, filter="name ends with .pdf"))
        assert nothing.abstained
        assert nothing.notes == (phrase("filter_without_match"),)
        (found,) = await told(operations, Search(query="leave merger", filter="name = merger.txt"))
        assert isinstance(found, Found)
        assert {scored.chunk.document_id for scored in found.chunks} == {"secret:merger.txt"}
        (found,) = await told(operations, Search(query="leave merger", filter="name = other.txt"))
        assert found == Found(chunks=(), notes=(phrase("filter_without_match"),))
        reader = Search(query="leave merger", filter="name = merger.txt", audience=frozenset({"slack:T1"}))
        (found,) = await told(operations, reader)
        assert isinstance(found, Found)
        assert not found.chunks, "a filter opens nothing"
        with pytest.raises(ConfigError, match="expected an operator"):
            await told(operations, Search(query="leave", filter="name like merger"))


async def test_a_filter_by_a_field_that_no_document_has_names_the_nearest_that_may_be_known(home: pathlib.Path) -> None:
    tables = SETTINGS.replace("handbook]\n", 'handbook]\nchunking = "table"\n', 1).replace(
        "secret]\n", 'secret]\nchunking = "table"\n', 1
    )
    (home / "citebot.toml").write_text(tables)
    (home / "handbook" / "costs.csv").write_text("item,amount\ndesk,5\nlamp,7\n")
    (home / "secret" / "costs.csv").write_text("item,amounts due\nmerger,9\nlawyer,8\n")
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        (found,) = await told(operations, Search(query="leave", filter="amout > 3 and Sourze = x"))
        assert isinstance(found, Found)
        (note,) = found.notes
        assert note.startswith("No document here has a field `amout`, `sourze`. Among those there are: `amount`,")
        assert "`amounts due`" in note
        reader = frozenset({"slack:T1"})
        (found,) = await told(operations, Search(query="leave", filter="amout > 3", audience=reader))
        assert isinstance(found, Found)
        assert "`amount`" in found.notes[0]
        assert "due" not in found.notes[0], "a field of what may not be read"
        (found,) = await told(operations, Search(query="leave", filter='"amounts due" > 30', audience=reader))
        assert isinstance(found, Found)
        assert "has a field `amounts due`" in found.notes[0], "told as one that there is none of"
        answer = await answered(operations, Ask(question="Wie viele Tage Urlaub?", filter="amout > 3"))
        assert answer.notes[0].startswith("Kein Dokument hier hat ein Feld `amout`.")
        (found,) = await told(operations, Search(query="leave", filter="amount > 30"))
        assert found == Found(chunks=(), notes=(phrase("filter_without_match"),))


@pytest.mark.soak
async def test_a_knowledge_base_s_own_filter_is_always_met(home: pathlib.Path) -> None:
    settings = SETTINGS.replace("[knowledge_bases.handbook]", '[knowledge_bases.handbook]\nfilter = "name != leave.md"')
    (home / "citebot.toml").write_text(settings)
    async with opened(home) as (operations, _):
        await told(operations, Sync())
        for extra in ("", "source = handbook", "name = leave.md"):
            (found,) = await told(operations, Search(query="leave 年假 merger", filter=extra))
            assert isinstance(found, Found)
            assert "handbook:leave.md" not in {scored.chunk.document_id for scored in found.chunks}
            assert bool(found.chunks) is (extra != "name = leave.md")


async def test_a_model_draws_the_filter_where_the_knowledge_base_asks_for_it(home: pathlib.Path) -> None:
    question = Ask(
        question="What do the notes in md say of the merger and of unused leave days?", knowledge_bases=("handbook",)
    )

    def reply(request: Request) -> Reply:
        if "narrow a search" not in request.texts[0]:
            return Reply(text="Up to five unused leave days may be carried into the next year [ID:0].")
        return Reply(text=json.dumps({"conditions": [{"field": "name", "operator": "=", "value": value}]}))

    async with OpenAIServer(default=reply) as server:
        settings = (
            SETTINGS
            + f'[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n[answer]\ncache_seconds = 0\n'
            + "filter_seconds = 90\nrefine_seconds = 90\n"
        )
        drawn = 'metadata_filter = "semi_auto"\nfilter_fields = ["name"]'
        settings = settings.replace("[knowledge_bases.handbook]", f"[knowledge_bases.handbook]\n{drawn}")
        (home / "citebot.toml").write_text(settings)
        async with opened(home) as (operations, _):
            await told(operations, Sync())
            value = "leave.md"
            answer = await answered(operations, question)
            assert {scored.chunk.document_id for scored in answer.chunks} == {"handbook:leave.md"}
            assert (answer.notes, answer.usage.calls) == ((), 2)
            assert '- "name" (text): "leave.md", "休假.md"' in server.requests[0].texts[0]
            value = "unheard-of.md"
            answer = await answered(operations, question)
            assert (answer.notes, answer.usage.calls) == ((phrase("filter_dropped"),), 2)
            before = len(server.requests)
            await told(operations, Search(query="leave"))
            await answered(operations, replace(question, knowledge_bases=("secret",)))
            assert not any("narrow a search" in request.texts[0] for request in server.requests[before:])


@pytest.mark.parametrize(
    "keys", ['metadata_filter = "semi_auto"', 'filter_fields = ["year"]', 'metadata_filter = "on"']
)
def test_how_a_filter_is_drawn_is_checked(keys: str, tmp_path: pathlib.Path, no_settings: None) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text(f"[knowledge_bases.a]\n{keys}\n")
    with pytest.raises(ConfigError, match=r"filter_fields and metadata_filter|metadata_filter: must be"):
        load_settings(file)


def test_the_doctor_tells_where_a_model_is_missing(tmp_path: pathlib.Path, no_settings: None) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text('[knowledge_bases.a]\nmetadata_filter = "auto"\n[knowledge_bases.b]\n')
    (check,) = check_filters(load_settings(file))
    assert (check.name, check.state) == ("metadata_filter of a", "warn")
    assert "[llm]" in check.mend
    file.write_text('[knowledge_bases.a]\nmetadata_filter = "auto"\n[llm]\nmodel = "m"\n')
    assert not list(check_filters(load_settings(file)))


def test_the_doctor_names_what_needs_a_model_or_a_graph(tmp_path: pathlib.Path, no_settings: None) -> None:
    file = tmp_path / "citebot.toml"
    steps = 'auto_questions = 2\nraptor = "document"\ncontents = true\nmetadata = {year = "the year"}'
    file.write_text(
        f'[answer]\nuse_kg = true\n[knowledge_bases.a]\n{steps}\n[knowledge_bases.b]\nchunking = "tag"\n[knowledge_bases.c]\ntags_from = ["b"]\n'
    )
    needing, graph = check_enriching(load_settings(file))
    assert (needing.name, needing.state) == ("auto_questions, contents, metadata, raptor of a", "warn")
    assert "[llm]" in needing.mend
    assert (graph.name, graph.state) == ("use_kg under [answer]", "warn")
    file.write_text(f'[answer]\nuse_kg = true\n[llm]\nmodel = "m"\n[knowledge_bases.a]\ngraph = true\n{steps}\n')
    assert not list(check_enriching(load_settings(file)))


@pytest.mark.parametrize(
    ("fields", "told"),
    [('Year = "y", year = "z"', "Year.*year.*one field"), ('Source = "x"', "Source.*another name")],
    ids=["twice", "source"],
)
def test_a_field_of_metadata_has_a_name_of_its_own(
    fields: str, told: str, tmp_path: pathlib.Path, no_settings: None
) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text(f"[knowledge_bases.a]\nmetadata = {{{fields}}}\n")
    with pytest.raises(ConfigError, match=rf"metadata: .*{told}"):
        load_settings(file)


def test_for_which_knowledge_bases_a_filter_is_drawn(tmp_path: pathlib.Path, no_settings: None) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text(
        '[knowledge_bases.a]\nmetadata_filter = "auto"\n[knowledge_bases.b]\n'
        '[knowledge_bases.c]\nmetadata_filter = "semi_auto"\nfilter_fields = ["year"]\n'
    )
    assert drawn_fields(load_settings(file), ("a", "b", "c")) == {"a": (), "c": ("year",)}


def test_the_filters_of_a_question_are_those_of_its_knowledge_bases_and_its_own(
    tmp_path: pathlib.Path, no_settings: None
) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text('[knowledge_bases.a]\nfilter = "  Year>=2024 "\n[knowledge_bases.b]\n')
    settings = load_settings(file)
    assert settings.knowledge_bases["a"].filter == "Year >= 2024"
    own, extra = parse_filter("Year >= 2024"), parse_filter("status = open")
    assert filters_of(settings, ("a", "b")) == {"a": (own,)}
    assert filters_of(settings, ("a", "b"), "status = open") == {"a": (own, extra), "b": (extra,)}
    assert filters_of(settings, ("b",)) == {}


@pytest.mark.parametrize("where", ["[knowledge_bases.a]", '[[channels]]\nid = "discord:1/2"'])
def test_a_filter_that_is_none_is_refused_with_its_place(where: str, tmp_path: pathlib.Path, no_settings: None) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text(f'{where}\nfilter = "year >= soon"\n')
    with pytest.raises(ConfigError, match=r"filter.*neither a number nor a YYYY-MM-DD"):
        load_settings(file)


def test_a_channel_s_filter_goes_with_each_question_and_search(tmp_path: pathlib.Path, no_settings: None) -> None:
    file = tmp_path / "citebot.toml"
    file.write_text('[[channels]]\nid = "discord:G1/C1"\nfilter = "team=sales"\n'.replace("G1/C1", "1/2"))
    assert turn_options(load_settings(file)).channels["discord:1/2"].filter == "team = sales"

    async def talk() -> None:
        options = replace(OPTIONS, channels={"discord:G1/C1": ChannelRule(filter="team = sales")})
        async with flowing(options=options, model=Model()) as flow:
            await flow.turns.receive(asked("How many days?"))
            await flow.turns.receive(asked("search days", message="q2"))
            await flow.turns.receive(asked("How many hours?", message="q3", channel="C2"))
            await flow.idle()
            filters = [(type(one), one.filter) for one in flow.model.asked if isinstance(one, Ask | Search)]
            assert sorted(filters, key=str) == [(Ask, ""), (Ask, "team = sales"), (Search, "team = sales")]

    run(talk())


def test_the_command_line_takes_a_filter(cli: Cli, scripted: Scripted) -> None:
    assert cli("search", "carry over", "--filter", "year >= 2024").code == 0
    assert cli("ask", "carry over?", "--filter", "year >= 2024").code == 0
    assert [one.filter for one in scripted.asked if isinstance(one, Ask | Search)] == ["year >= 2024"] * 2
    for command in ("ask", "search"):
        refused = cli(command, "carry over", "--filter", "year >=")
        assert refused.code == 2
        assert "--filter" in refused.err
        assert "expected a value" in refused.err
