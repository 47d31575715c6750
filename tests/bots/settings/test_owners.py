"""Who looks after a knowledge base, in the settings, and the source that comes of it."""

import pathlib

import pytest

from bots.settings import PEOPLE, Settings, load_settings
from bots.turn.options import turn_options
from bots.turn.people.values import Owners
from connectors.registry import options_model
from ragcore.errors import ConfigError

pytestmark = pytest.mark.usefixtures("no_settings")
CHANNEL = '"slack:T1/C1"'


def read(folder: pathlib.Path, owners: str, more: str = "") -> Settings:
    file = folder / "citebot.toml"
    file.write_text(f'[knowledge_bases."a:b"]\nowners = [{owners}]\n{more}')
    return load_settings(file, source_model=options_model)


def test_owners_are_a_channel_and_people_in_it(tmp_path: pathlib.Path) -> None:
    settings = read(tmp_path, f'"slack:T1/@U1", {CHANNEL}, "slack:T1/@U1"')
    (source,) = settings.sources
    assert (source.name, source.type, source.knowledge_base, source.schedule) == ("people-a-b", PEOPLE, "a:b", "1h")
    options = turn_options(settings)
    assert options.owners == {"a:b": Owners(place="slack:T1/C1", people=frozenset({"slack:T1/@U1"}))}
    assert options.kept_in == {"a:b": "people-a-b"}


def test_without_owners_there_is_no_source(tmp_path: pathlib.Path) -> None:
    assert read(tmp_path, "").sources == ()
    assert turn_options(read(tmp_path, "")).owners == {}


@pytest.mark.parametrize(
    ("owners", "told"),
    [
        ('"slack:T1/@U1"', "must be one channel"),
        (f'{CHANNEL}, "slack:T1/C2"', "must be one channel"),
        ('"*"', "must be one channel"),
        (f'{CHANNEL}, "email:a@example.org"', "must be one channel"),
        (f'{CHANNEL}, "discord:@1"', "name people of slack"),
        ('"general"', "is no reader"),
    ],
)
def test_what_cannot_be_owners_is_refused(tmp_path: pathlib.Path, owners: str, told: str) -> None:
    with pytest.raises(ConfigError, match="owners") as caught:
        read(tmp_path, owners)
    assert told in str(caught.value)


def test_nobody_configures_the_source_by_hand(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ConfigError, match='"people" is no type of source'):
        read(tmp_path, CHANNEL, '[[sources]]\nname = "x"\ntype = "people"\n')


def test_owners_may_come_from_the_environment(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CITEBOT_KNOWLEDGE_BASES__A_B__OWNERS", "slack:T1/C9")
    assert turn_options(read(tmp_path, "")).owners["a:b"].place == "slack:T1/C9"


@pytest.mark.parametrize(
    ("place", "workspace", "channel"),
    [("slack:T1/C1", "T1", "C1"), ("discord:7/8", "7", "8"), ("telegram:-100", "", "-100")],
)
def test_a_place_is_a_conversation(place: str, workspace: str, channel: str) -> None:
    here = Owners(place=place).conversation
    assert (here.workspace, here.channel, here.thread) == (workspace, channel, "")
