"""What asks for a summary, of what, and since when, in three languages; a Monday afternoon in Berlin's winter."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bots.turn.gist.asked import LONGEST, Unclear, Wanted, wanted_of

ZONE = timezone(timedelta(hours=1))
NOW = datetime(2026, 11, 23, 16, 40, tzinfo=ZONE)


def at(day: int, hour: int = 0, minute: int = 0, *, month: int = 11) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=ZONE)


ASKED = {
    "summarise this thread": Wanted(place="thread"),
    "Summarize this channel since Monday.": Wanted(place="channel", since=at(16), bounded=True),
    "please summarise the channel since yesterday": Wanted(place="channel", since=at(22), bounded=True),
    "summarise yesterday": Wanted(since=at(22), until=at(23), bounded=True),
    "give me a summary of this channel today": Wanted(place="channel", since=at(23), bounded=True),
    "can you summarise the last 50 messages?": Wanted(most=50, bounded=True),
    "summarise the last 3 hours": Wanted(since=at(23, 13, 40), bounded=True),
    "summarise since 9 am": Wanted(since=at(23, 9), bounded=True),
    "summarise since 17:30": Wanted(since=at(22, 17, 30), bounded=True),
    "summarise last week": Wanted(since=at(16), until=at(23), bounded=True),
    "summarise since last week": Wanted(since=at(16), bounded=True),
    "summarise this week": Wanted(since=at(23), bounded=True),
    "summarise this channel since 24 December": Wanted(
        place="channel", since=datetime(2025, 12, 24, tzinfo=ZONE), bounded=True
    ),
    "summarise from 2026-11-20 to 2026-11-21": Wanted(since=at(20), until=at(22), bounded=True),
    "summarise since 20.11.": Wanted(since=at(20), bounded=True),
    "summarise since 2026-11-20 14:30": Wanted(since=at(20, 14, 30), bounded=True),
    "what did I miss?": Wanted(),
    "what did we miss here since Friday": Wanted(since=at(20), bounded=True),
    "fass diesen Thread zusammen": Wanted(place="thread"),
    "Fasse bitte den Kanal seit Montag zusammen": Wanted(place="channel", since=at(16), bounded=True),
    "Zusammenfassung der letzten 50 Nachrichten": Wanted(most=50, bounded=True),
    "was habe ich seit gestern verpasst?": Wanted(since=at(22), bounded=True),
    "fass die Diskussion vom 20.11. bis 21.11. zusammen": Wanted(since=at(20), until=at(22), bounded=True),
    "fass den Chat seit 9 Uhr zusammen": Wanted(place="channel", since=at(23, 9), bounded=True),
    "总结本帖": Wanted(place="thread"),
    "总结一下这个频道昨天以来的讨论": Wanted(place="channel", since=at(22), bounded=True),
    "请总结最近50条消息": Wanted(most=50, bounded=True),
    "总结这个频道最近3小时的消息": Wanted(place="channel", since=at(23, 13, 40), bounded=True),
    "总结上周的讨论": Wanted(since=at(16), until=at(23), bounded=True),
    "总结上周五以来的消息": Wanted(since=at(20), bounded=True),
    "总结今天的聊天记录": Wanted(since=at(23), bounded=True),
    "我错过了什么？": Wanted(),
}
NOT_ASKED = [
    "",
    "summarise",
    "summarise this",
    "summarise the leave policy",
    "summary of the handbook",
    "summarise the news of last week",
    "what happened in 2024?",
    "last 50 messages",
    "since Monday",
    "how many days of leave do I have since Monday?",
    "was steht im Thread?",
    "fass die Urlaubsregelung zusammen",
    "总结一下年假政策",
    "summarise the channel strategy",
    "summarise what changed since the merger",
    "summarise from monday to sunday opening hours",
    "summarise the sunday rota",
]
UNCLEAR = {
    "summarise this channel since yesterdaay": "since yesterdaay",
    "please summarise since yesterdaay": "since yesterdaay",
    "summarise yesteday": "yesteday",
    "summarise the thread last wek": "last wek",
    "summarise this channel since the merger": "since the merger",
    "fass den Kanal seit gesterrn zusammen": "seit gesterrn zusammen",
    "总结这个频道自从合并": "自从合并",
    "summarise since 2026-02-30": "since 2026-02-30",
    "summarise since 31.2.": "since 31.2",
    "summarise since 25:00": "since 25:00",
    "summarise the last 0 messages": "the last 0 messages",
    "summarise the last 900000 weeks": "the last 900000 weeks",
    "summarise from today to yesterday": "from today to yesterday",
}


@pytest.mark.parametrize("text", ASKED, ids=str)
def test_a_summary_is_asked_for(text: str) -> None:
    assert wanted_of(text, NOW) == ASKED[text]


@pytest.mark.parametrize("text", NOT_ASKED, ids=str)
def test_all_else_is_a_question(text: str) -> None:
    assert wanted_of(text, NOW) is None


@pytest.mark.parametrize("text", UNCLEAR, ids=str)
def test_a_time_that_is_not_understood_is_told_apart_from_a_question(text: str) -> None:
    assert wanted_of(text, NOW) == Unclear(words=UNCLEAR[text])


def test_behind_the_command_only_of_what_and_since_when_is_said() -> None:
    assert wanted_of("", NOW, commanded=True) == Wanted()
    assert wanted_of("since Monday", NOW, commanded=True) == Wanted(since=at(16), bounded=True)
    assert wanted_of("thread", NOW, commanded=True) == Wanted(place="thread")
    assert wanted_of("昨天以来", NOW, commanded=True) == Wanted(since=at(22), bounded=True)
    assert wanted_of("since the dawn of time", NOW, commanded=True) == Unclear(words="since the dawn of time")
    elsewhere = "https://acme.slack.com/archives/c0secret/p17"
    assert wanted_of(elsewhere, NOW, commanded=True) == Unclear(words=elsewhere), "no other place can be named"
    assert wanted_of("#general", NOW, commanded=True) == Unclear(words="#general")
    long = wanted_of("x" * 30_000, NOW, commanded=True)
    assert isinstance(long, Unclear)
    assert len(long.words) == 60


def test_a_summary_reads_so_many_messages_at_most() -> None:
    wanted = wanted_of("last 100000 messages", NOW, commanded=True)
    assert wanted == Wanted(most=500, bounded=True)


def test_days_begin_at_the_askers_midnight() -> None:
    late = datetime(2026, 11, 23, 23, 30, tzinfo=UTC)
    there = late.astimezone(ZONE)
    assert wanted_of("summarise today", late) == Wanted(since=datetime(2026, 11, 23, tzinfo=UTC), bounded=True)
    assert wanted_of("summarise today", there) == Wanted(since=at(24), bounded=True)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2026, 11, 22)))
def test_a_date_is_read_in_each_way_of_writing_it(day: datetime) -> None:
    began = datetime(day.year, day.month, day.day, tzinfo=ZONE)
    for written in (f"{day:%Y-%m-%d}", f"{day.day}.{day.month}.{day.year}", f"{day.year}年{day.month}月{day.day}日"):
        wanted = wanted_of(f"since {written}", NOW, commanded=True)
        assert wanted == Wanted(since=began, bounded=True), written
    for written in (f"{day:%d %B %Y}", f"{day:%B} {day.day}, {day.year}"):
        assert wanted_of(f"summarise since {written}", NOW) == Wanted(since=began, bounded=True), written


_WORDS = ["since", "from", "to", "last", "3", "monday", "2026-13-01", "thread", "seit", "昨天", "以来", "12", ":", "."]


@given(st.one_of(st.text(max_size=LONGEST + 5), st.lists(st.sampled_from(_WORDS), max_size=12).map(" ".join)))
def test_whatever_is_written_never_fails_and_its_time_is_in_order(text: str) -> None:
    wanted = wanted_of(f"summarise {text}", NOW)
    if isinstance(wanted, Wanted) and wanted.since is not None and wanted.until is not None:
        assert wanted.since < wanted.until
