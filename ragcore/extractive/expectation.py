"""What kind of answer a question waits for, by its question words: a price, a time, a reason, a person. Pure.

The expected answer type of question answering, in its oldest form: a question that begins with "when" is answered by a
sentence that holds a date or a span. It only lends weight to sentences that speak of the matter anyway.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Kind:
    asks: re.Pattern[str]
    holds: re.Pattern[str]


def _kind(*, asks: tuple[str, str], holds: tuple[str, str]) -> _Kind:
    """Build a kind from words of spaced scripts (alternatives, matched whole) and patterns of any other form."""
    return _Kind(*(re.compile(rf"\b(?:{words})\b|{other}", re.IGNORECASE) for words, other in (asks, holds)))


_PRICE = _kind(
    asks=(
        "how much|price|costs?|fee|expensive|pay|paid|budget|was kostet|preis|combien coûte|prix|cuánto cuesta|precio",
        "多少钱|价格|费用|いくら|얼마",
    ),
    holds=(
        "price|cost|fee|gbp|eur|usd|cny|preis|prix|precio|pence|full pay",
        r"[£€$¥￥]\s?\d|\d\s?(?:£|€|元|円|원)|价格|费用|免费",
    ),
)
_TIME = _kind(
    asks=(
        "when|until|till|how long|how soon|deadline|what (?:time|date|day)|wann|wie lange|quand|cuándo",
        "什么时候|何时|多久|多长时间|几点|哪天|いつ|언제",
    ),
    holds=(
        "(?:19|20)\\d\\d|january|february|march|april|may|june|july|august|september|october|november|december"
        "|minutes?|hours?|days?|weeks?|months?|years?|monday|tuesday|wednesday|thursday|friday",
        r"\d{1,2}:\d{2}|\d\s?(?:年|月|日|天|周|个月|小时|分钟|点)",
    ),
)
_FREQUENCY = _kind(
    asks=("how (?:often|frequently)|wie oft", "多久一次|多长时间一次|几次"),
    holds=("every|each|once|twice|daily|weekly|monthly|yearly|annual(?:ly)?|quarter(?:ly)?|\\d+ times", "每|次"),
)
_COUNT = _kind(
    asks=(
        "how (?:many|far|old|big|large|heavy|high|deep|wide)|wie viele?|combien|cuánt[oa]s?",
        "多少|几(?=[天个次台年月小])",
    ),
    holds=("one|two|three|four|five|six|seven|eight|nine|ten|twelve|none", r"\d|[一二三四五六七八九十百千万两]"),
)
_REASON = _kind(
    asks=("why|what for|reason|cause|warum|weshalb|pourquoi|por qué", "为什么|为何|原因|なぜ|왜"),
    holds=(
        "because|reason|due to|since|therefore|so that|caused? by|weil|grund|parce que|porque",
        "因为|由于|原因|因此",
    ),
)
_PERSON = _kind(
    asks=("who|whom|whose|wer|wen|wem|qui|quién", "谁|哪位|だれ|誰|누구"),
    holds=("lead|manager|director|head|team|department|extension|officer", "@|主管|经理|总监|部门|负责人"),
)
_KINDS = (_PRICE, _TIME, _FREQUENCY, _COUNT, _REASON, _PERSON)


class Expectation:
    """The kinds of answer that one question waits for; it may ask several things at once."""

    def __init__(self, question: str) -> None:
        """Read the question words."""
        self._holds: Sequence[re.Pattern[str]] = [kind.holds for kind in _KINDS if kind.asks.search(question)]

    def met(self, sentence: str) -> float:
        """Return which share of the kinds the sentence holds, 0..1; 0 when the question waits for none of them."""
        if not self._holds:
            return 0.0
        return sum(bool(holds.search(sentence)) for holds in self._holds) / len(self._holds)

    def missing(self, sentences: Iterable[str]) -> "Expectation":
        """Return what is still waited for when these sentences have been said."""
        text = "\n".join(sentences)
        rest = Expectation("")
        rest._holds = [holds for holds in self._holds if not holds.search(text)]
        return rest
