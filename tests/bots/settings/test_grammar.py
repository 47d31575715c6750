import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.settings import normal_reader, reader_kind
from bots.settings.grammar import normal_schedule


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
