import tomllib

import pytest

from bots.access import OPERATOR, audience_of, line_to_add, narrowest, readable, unread

BASES = {
    "all": ("*",),
    "team": ("slack:T1",),
    "room": ("slack:T1/C1", "discord:5/6"),
    "ann": ("slack:T1/@U1", "email:ann@example.org"),
    "mine": (),
}


@pytest.mark.parametrize(
    ("reader", "names"),
    [
        ("*", ["all"]),
        ("slack:T1", ["all", "team"]),
        ("slack:T2", ["all"]),
        ("slack:T1/C1", ["all", "team", "room"]),
        ("slack:T1/@U1", ["all", "team", "ann"]),
        ("discord:5/6", ["all", "room"]),
        ("discord:@1", ["all"]),
        ("telegram:-100", ["all"]),
        ("email:ann@example.org", ["all", "ann"]),
    ],
)
def test_readers_meet_the_audience(reader: str, names: list[str]) -> None:
    assert list(readable(BASES, audience_of(reader))) == names


def test_the_operator_reads_everything() -> None:
    assert list(readable(BASES, OPERATOR)) == list(BASES)
    assert unread(BASES) == ("mine",)


def test_the_line_to_add_is_toml() -> None:
    for name in ("handbook", "文档库", 'with "quotes"', "dotted.name"):
        where, _, line = line_to_add(name, ("*",), "slack:T1").removeprefix("under ").partition(": ")
        read = tomllib.loads(f"{where}\n{line}")
        assert read == {"knowledge_bases": {name: {"readers": ["*", "slack:T1"]}}}


@pytest.mark.parametrize(
    ("audience", "one"),
    [
        ({"*", "slack:T1", "slack:T1/C1"}, "slack:T1/C1"),
        ({"*", "slack:T1", "slack:T1/C1", "slack:T1/@U1"}, "slack:T1/@U1"),
        ({"*", "discord:5"}, "discord:5"),
        ({"*"}, "*"),
        (set(), ""),
    ],
)
def test_the_narrowest_reader_of_an_audience(audience: set[str], one: str) -> None:
    assert narrowest(frozenset(audience)) == one
