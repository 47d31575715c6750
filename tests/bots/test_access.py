import pytest

from bots.access import OPERATOR, audience_of, line_to_add, readable, unread

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
    assert line_to_add("handbook", "slack:T1") == '[knowledge_bases.handbook] readers = ["slack:T1"]'
    assert line_to_add("文档库") == '[knowledge_bases."文档库"] readers = ["slack:T0123"]'
