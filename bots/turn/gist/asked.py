"""Whether a summary of what was said is asked for, of what, and since when: by closed word lists. Pure.

All words of such a message are known ones: "summarise this thread since Monday" asks for it, "summarise the leave
policy" is a question to the documents. English, Chinese and German, as the other commands in words.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Literal

from bots.talk import MOST_MESSAGES
from bots.turn.gist.moments import AMOUNT, POINT, Stretch, amount_of, midnight, monday, stretch_of

LONGEST = 200
"""Characters; whatever asks for a summary is shorter."""

Place = Literal["", "thread", "channel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be summarised; ``place`` "" is wherever it is asked.

    Messages from ``since`` (None: as far back as there are any) until before ``until`` (None: now), and of them the
    ``most`` newest; ``bounded``: whoever asked said since when, or how many.
    """

    place: Place = ""
    since: datetime | None = None
    until: datetime | None = None
    most: int = MOST_MESSAGES
    bounded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unclear:
    """A summary is asked for, in words of which these tell no place and no time that is known."""

    words: str


_END = r"(?!\w)"
_VERB = re.compile(
    rf"""(?:summari[sz]e|summary|sum\sup|recap|tl;?dr|catch\s(?:me|us)\sup(?:\son)?){_END}
    |(?:zusammenfass(?:en|ung)|fass(?:e|t)?|zusammen|verpasst){_END}
    |总结|概括|归纳|汇总|摘要|小结|概述""",
    re.VERBOSE,
)
_MISSED = re.compile(
    rf"""what(?:\sdid|\shave|'ve|’ve)?\s(?:i|we)\s(?:miss|missed){_END}
    |was\s(?:habe?|haben)\s(?:ich|wir)\sverpasst{_END}
    |我们?(?:都)?错过了?(?:什么|哪些(?:消息|内容)?)|我们?漏掉了?什么""",
    re.VERBOSE,
)
"""Asks for it without saying of what."""
_THREAD = re.compile(
    rf"(?:(?:this|the)\s)?thread{_END}|(?:diese[rnms]?|de[rnms]|das)?\s?thread{_END}|(?:这个?|本|该|此)?(?:话题|讨论串|帖子?|线程)"
)
_CHANNEL = re.compile(
    rf"""(?:(?:this|the)\s)?(?:channel|group\schat|group|chat|room){_END}
    |(?:diese[rnms]?|de[rnms]|das|die)?\s?(?:kanals?|gruppe|chats?){_END}
    |(?:这个?|本|该|此)?(?:频道|群聊|群组|群|聊天室)""",
    re.VERBOSE,
)
_HERE = re.compile(
    rf"""(?:(?:this|the|our)\s)?(?:conversation|discussion|messages){_END}|(?:in\s)?here{_END}
    |(?:diese[rsn]?|das|die|de[rsn]|unser[en]?)?\s?(?:gesprächs?|unterhaltung|diskussion|nachrichten|hier){_END}
    |(?:这段|这次|本次|这里|这儿)?的?(?:对话|讨论|聊天(?:记录|内容)?|消息|谈话)""",
    re.VERBOSE,
)
_SPAN = re.compile(
    rf"""(?:since|from|starting|seit|ab|vo[mn]|自从?|从)?\s?(?P<since>{POINT})
            (?:\s?(?:until|till|to|through|bis(?:\szum)?|到|至)\s?(?P<until>{POINT}))?\s?(?P<on>以来|起|之?后|开始)?
    |(?:the\s|die\s|der\s|den\s)?(?:last|past|latest|letzten?|letzter|vergangenen|最近|过去|近)的?\s?
            (?:(?P<count>\d{{1,6}})\s?(?:messages?|posts?|nachrichten{_END}|条(?:消息|信息)?)|(?P<amount>{AMOUNT}))
    |(?:since\s|seit\s|自从?|从)?(?P<week>(?:this|the)\sweek{_END}|diese[rn]?\swoche{_END}|[这本]周(?![一二三四五六日天]))(?:以来)?
    |(?:since\s|seit\s|自从?|从)?(?P<before>last\sweek{_END}|letzte[rn]?\swoche{_END}|上周(?![一二三四五六日天]))(?P<go>以来)?""",
    re.VERBOSE,
)
_FILLER = re.compile(
    rf"""(?:please|pls|can|could|would|will|you|for|me|us|give|a|an|the|of|on|in|from|to|all|everything|that|was|were|is|said
        |been|has|have|written|discussed|posted|up|short|quick|brief|kurz|bitte|kannst|könntest|du|mir|uns|mal|eine|einmal|gib
        |den|die|das|der|was|wurde|habe?|haben|ich|wir|alles|gesagt|geschrieben|besprochen|in|im|aus|von|vom|aller|hier){_END}
    |请|麻烦|帮我|帮忙|能否|能不能|可以|你|给我|做个?|一下|下|里面?|中|内|的|所有|全部|大家|都|说了|聊了|讨论了|什么|吗|把""",
    re.VERBOSE,
)
_STARTS_SINCE = re.compile(r"(?:since|from|starting|seit|ab|vo[mn]|自|从)")


_WHEN = re.compile(
    rf"(?:since|until|till|last|past|latest|seit|bis|letzte[nrm]?|vergangenen){_END}|自从?|最近|过去|上个?(?:周|星期|月)"
)
"""What tells since when, whatever follows."""
_DAY_WORDS = (
    "yesterday", "today", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    "gestern", "vorgestern", "heute", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag",
)  # fmt: skip
_LONGEST_UNCLEAR = 60


def wanted_of(text: str, now: datetime, *, commanded: bool = False) -> Wanted | Unclear | None:
    """Return what is to be summarised, None where the text asks for no summary.

    Args:
        text: What was written.
        now: The time, in the zone of whoever wrote it: "since yesterday" begins at midnight there.
        commanded: It follows the command itself, so that only of what and since when need be said, or nothing.
    """
    if len(text) > LONGEST:
        return Unclear(words=text[: _LONGEST_UNCLEAR - 1] + "…") if commanded else None
    rest = " ".join(text.casefold().split()).strip(" /.!?,:;。！？，：；")
    place: Place | None = None
    span: Wanted | None = None
    asks, impossible = commanded, ""
    while rest:
        if found := _MISSED.match(rest):
            asks, place = True, place or ""
        elif found := _VERB.match(rest):
            asks = True
        elif span is None and (found := _SPAN.match(rest)) and found[0].strip():
            span = _span_of(found, now)
            impossible = "" if span is not None else found[0].strip()
            span = span or Wanted()
        elif found := _THREAD.match(rest):
            place = "thread"
        elif found := _CHANNEL.match(rest):
            place = "channel"
        elif found := _HERE.match(rest):
            place = place or ""
        elif not (found := _FILLER.match(rest)):
            break
        rest = rest[found.end() :].lstrip(" ,，、:：?？")
    if rest:
        unclear = commanded or (asks and _tells_when(rest, place))
        return Unclear(words=rest[:_LONGEST_UNCLEAR]) if unclear else None
    if asks and impossible:
        return Unclear(words=impossible)
    if not asks or not (commanded or place is not None or span is not None):
        return None
    span = span or Wanted()
    return Wanted(place=place or "", since=span.since, until=span.until, most=span.most, bounded=span.bounded)


def _tells_when(rest: str, place: Place | None) -> bool:
    """Return whether what wasn't understood was to tell since when, so that the text is no question to documents.

    So it is behind "this channel since …"; elsewhere only where it is nearly the name of a day.
    """
    if place in ("thread", "channel") and _WHEN.match(rest):
        return True
    *before, last = rest.split()
    known = all(_WHEN.fullmatch(word) or _FILLER.fullmatch(word) for word in before)
    return known and len(last) > 4 and bool(get_close_matches(last, _DAY_WORDS, n=1, cutoff=0.8))


def _span_of(found: re.Match[str], now: datetime) -> Wanted | None:  # noqa: PLR0911 (one return a form)
    if found["count"]:
        return Wanted(most=min(MOST_MESSAGES, int(found["count"])), bounded=True) if int(found["count"]) else None
    if found["amount"]:
        length = amount_of(found["amount"])
        return Wanted(since=now - length, bounded=True) if length else None
    if found["week"]:
        return Wanted(since=monday(now), bounded=True)
    if found["before"]:
        began = monday(now) - timedelta(days=7)
        goes_on = bool(found["go"] or _STARTS_SINCE.match(found[0]))
        return Wanted(since=began, until=None if goes_on else monday(now), bounded=True)
    first = stretch_of(found["since"], now)
    if first is None:
        return None
    if found["until"]:
        last = stretch_of(found["until"], now)
        return Wanted(since=first.start, until=last.end, bounded=True) if last and last.end > first.start else None
    goes_on = bool(found["on"] or _STARTS_SINCE.match(found[0])) or _goes_on(first, now)
    return Wanted(since=first.start, until=None if goes_on else first.end, bounded=True)


def _goes_on(one: Stretch, now: datetime) -> bool:
    """Return whether a day or moment that stands alone reaches until now: today, or a time of day."""
    return one.end == one.start or one.start == midnight(now)
