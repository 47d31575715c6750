"""Extremes and comparisons: what is asked to be the most of its kind, or more than another, must be told so. Pure.

"Which office has the most people?" is answered by a sentence that says *most*, not by one that only names offices and
people: to find the largest of several numbers would be to reason, which quoting is not. A limit ("at most five days",
"longer than 30 minutes") compares nothing with its like.
"""

import re

from ragcore.extractive.degrees import Degree, degrees, goes_beyond_all, meets
from ragcore.extractive.form import circumstance, is_how_to, selects

_CHINESE_SELECTS = re.compile("哪(?!一?[天年月日]|里|儿)|谁|誰|什么(?!时)|何(?!时)")
_NUMBER = (
    r"\d|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|twice|once|ein|eine[nrm]?|zwei|drei|vier|fünf|zehn)\b"
    r"|an? (?:second|minute|hour|day|week|fortnight|month|quarter|year|few|couple|dozen|hundred|thousand)"
    r"|(?:usual|normal|before|expected|planned|allowed|that|this|it|they)\b"
)
_THAN_ITS_LIKE = re.compile(rf"\b(?:than|als)\b(?!\W+(?:about |just |the |etwa )?(?:{_NUMBER}))", re.IGNORECASE)
_ONE_OR_OTHER = re.compile(
    r"^\W*(?:which|what|who|is|are|was|were|does?|did|wer|welche\w*|ist|sind|hat|haben)\b.*"
    r"\b(?:(?:or|oder)(?! (?:more|less|fewer|mehr|weniger|\w+er)\b)|of the two|von beiden)\b",
    re.IGNORECASE | re.DOTALL,
)
_NO_EXTREME = re.compile(
    r"\bat (?:the |its )?(?:very )?\w+st\b|\b(?:latest|earliest|am besten)\b"
    r"|\b\w+st (?:\w+ ){0,2}?(?:that )?(?:i|we|you|one|they|he|she|it) (?:can|may|could|might|must|should|am|are|is)\b"
    r"|\bmost (?:of|likely|recent\w*|part|probabl\w+)\b"
    r"|\b(?:best|easiest|fastest|quickest|simplest|safest|cheapest) "
    r"(?:\w+ )?(?:ways?|methods?|approach|practices?|options?|time|place)\b",
    re.IGNORECASE,
)
"""Limits, what is newest, most of a thing, and asking for advice: none of these compares things with each other."""
_LIMIT = re.compile(
    r"\b(?:up to|at (?:most|least)|(?:no|not) (?:more|less|fewer|longer|later) than|within|between|limit\w*|maximum"
    r"|minimum|bis zu|höchstens|mindestens|maximal|spätestens|zwischen)\b"
    r"|最[多少长短高低大小早晚迟]|不超过|不少于|以[内上下]|至[多少]",
    re.IGNORECASE,
)
_WHO = re.compile(r"\b(?:who|whom|whose|wer|wen|wem)\b|谁", re.IGNORECASE)
_WHY = re.compile(r"\b(?:why|warum|weshalb)\b|为什么|为何", re.IGNORECASE)


class Extremes:
    """The extremes and comparisons that one question asks for."""

    def __init__(self, question: str) -> None:
        """Read which there are; none in a question how something is done, or why it is so."""
        self._asked = set() if is_how_to(question) or _WHY.search(question) else _asked(question)
        self._limits = not (selects(question) or _WHO.search(question))

    @property
    def asked(self) -> bool:
        """Whether there is any."""
        return bool(self._asked)

    def stated(self, text: str) -> bool:
        """Whether a text, with what stands above it, states each of them; true where none is asked for.

        What is asked for as a limit, "the longest time that I may", is also stated as one: "up to 30 days".
        """
        said, beyond_all = set(degrees(text)), goes_beyond_all(text)
        limit = self._limits and bool(_LIMIT.search(text))
        return all((limit and one.most) or any(meets(one, other, beyond_all) for other in said) for one in self._asked)


def _asked(question: str) -> set[Degree]:
    """Return the degrees of a question but for limits and conditions.

    最多 without 哪 is a limit, and so is "more than 30 minutes"; a condition is "if it costs more than the limit".
    """
    question = _NO_EXTREME.sub(" ", question.removesuffix(circumstance(question)))
    compares = bool(_THAN_ITS_LIKE.search(question) or _ONE_OR_OTHER.search(question))
    which = bool(_CHINESE_SELECTS.search(question))
    counted = {
        (False, True): True,
        (False, False): compares,
        (True, True): which,
        (True, False): "更" in question and (which or "比" in question),
    }
    return {one for one in degrees(question) if counted[one.is_chinese, one.most]}
