"""What kind of answer a question waits for, by its question words: a price, a time, a reason, a person. Pure.

The expected answer type of question answering, in its oldest form: a question that begins with "when" is answered by a
sentence that holds a date or a span. It only lends weight to sentences that speak of the matter anyway.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragcore.extractive.times import (
    CHINESE_CLOCK,
    CHINESE_DAY,
    CLOCK,
    DAY,
    FIGURES,
    NUMBERS,
    SHORT_SPAN,
    ZAHLEN,
    spans,
)


@dataclass(frozen=True, slots=True)
class _Kind:
    asks: re.Pattern[str]
    holds: re.Pattern[str]


def _kind(*, asks: tuple[str, str], holds: tuple[str, str]) -> _Kind:
    """Build a kind from words of spaced scripts (alternatives, matched whole) and patterns of any other form."""
    return _Kind(*(re.compile(rf"\b(?:{words})\b|{other}", re.IGNORECASE) for words, other in (asks, holds)))


_CURRENCIES = (
    "gbp|eur|usd|cny|chf|rmb|inr|jpy|euros?|pounds?|dollars?|yuan|yen|rupees?|francs?|franken|kron(?:er|or|en)|złoty"
    "|cents?|pence|quid|bucks?"
)
_COSTS = r"(?:costs?|pays?|paid|charges?|charged|kostet|kosten)(?: only| just| about| around| you| us| nur)? \d[\d.,]*"
"""A bare number that costs: "patients pay 10 a day"."""
_SUMS = (
    r"[£€$¥￥]\s?\d|\d\s?(?:£|€|p\b)|价格|费用|免费"
    r"|[\d一二两三四五六七八九十百千万]\s?(?:欧元|美元|英镑|元|円|원|块|毛|角)"
)
_PRICE = _kind(
    asks=(
        "how much|price|costs?|fee|expensive|kosten|kostet|teuer|preis|combien coûte|prix|cuánto cuesta|precio",
        "多少钱|价格|费用|いくら|얼마",
    ),
    holds=(
        f"price|cost|fee|{_CURRENCIES}|preis|prix|precio|full pay|(?-i:[A-Z]{{3}}) \\d[\\d.,]*|{_COSTS}",
        _SUMS,
    ),
)
_RATE = _kind(
    asks=("rates?|percentage|proportion|tariff|satz|taux|tasa", "比例|费率|利率|税率|百分之几"),
    holds=(
        rf"{FIGURES}\s?(?:per ?cent|percent)|{FIGURES}(?: [a-z]+)? (?:per|an?|each|every)",
        r"\d\s?[%％]|百分之",
    ),
)
_AUXILIARY = "do|does|did|is|are|was|were|can|could|will|would|should|must|may|shall|has|have|had"
_SPANS = spans(NUMBERS)
_SPANNEN = rf"(?:{FIGURES}|{ZAHLEN}) (?:[a-zäöü]+ )?(?:sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?)"
_WHEN = _kind(
    asks=(
        f"when(?= (?:{_AUXILIARY}))|until|till|by what time|deadline|what (?:time|date|day)|which (?:day|month|year)"
        "|wann|quand|cuándo",
        r"^\W*when\b|\bwhen\W*$|什么时候|何时|几点|哪一?天|哪一?年|何年|几月|什么时间|いつ|언제",
    ),
    holds=(
        "(?:19|20)\\d\\d|january|february|march|april|(?-i:May)|june|july|august|september|october|november|december"
        "|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|noon|midnight|morning|evening|immediately|at once"
        "|(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last) (?:[a-z]+ )?(?:day|week|month)"
        "|januar|februar|märz|(?-i:Mai)|juni|juli|oktober|dezember|montags?|dienstags?|mittwochs?|donnerstags?|freitags?"
        f"|samstags?|sonntags?|sofort|uhr|{CLOCK}|{DAY}"
        f"|(?:after|before|within|every|from|in) (?:[a-z]+ )?{_SPANS}"
        f"|(?:nach|vor|innerhalb|binnen|alle|in)(?: von)? {_SPANNEN}",
        rf"\d\s?(?:年|月|日)|[内前后]|时(?!间|候)|当[天日]|次日|立即|立刻|马上|{CHINESE_DAY}|{CHINESE_CLOCK}",
    ),
)
_HOW_LONG = _kind(
    asks=(
        "how (?:long|soon|quickly|fast)|what period|wie (?:lange|schnell)|combien de temps|cuánto tiempo",
        "多久|多长|几年",
    ),
    holds=(
        f"{_SPANS}|immediately|at once",
        rf"{SHORT_SPAN}|\d{{1,2}}:\d{{2}}|\d\s?(?:年|月|日|天|周|个月|小时|分钟|点)|[个两]?工作日",
    ),
)
_MONEY = _kind(
    asks=(
        "price of|cost of|(?:what|how much) (?:do|does|did|will|would)[^?.,]* cost|how expensive"
        "|(?:what|how high) (?:is|are|was) the (?:[a-z]+ ){0,2}(?:price|cost|fee|charge)s?"
        "|was kosten?|was kostet|wie teuer",
        "多少钱|价格|费用",
    ),
    holds=(
        f"price|cost|fee|{_CURRENCIES}|free|no charge|without charge|included|paid by|kostenlos|gratis|kostenfrei"
        f"|gratuite?|{_COSTS}",
        rf"{_SUMS}|per ?cent|[%％]",
    ),
)
"""What tells a price: a number of weeks does not, though it stands beside what is for sale."""
_CLOCK = _kind(
    asks=("what time(?! of (?:the )?(?:year|month|week))|um wie ?viel uhr|à quelle heure|a qué hora", "几点"),
    holds=(
        CLOCK,
        rf"{CHINESE_CLOCK}|\d{{1,2}}[.]\d{{2}}",
    ),
)
_PHONE = _kind(
    asks=(
        "(?:phone|telephone|mobile|fax|emergency|hotline) numbers?"
        "|numbers? (?:do|does|should|must|can|may) (?:i|we|one|you) (?:ring|call|dial|phone)|telefonnummer",
        "电话(?:号码)?(?:是|多少)|号码是",
    ),
    holds=(
        "ext(?:ension|\\.)? ?\\d+|(?:call|ring|dial) \\d+"
        r"|(?:phone|telephone|tel|mobile|fax|hotline|numbers?|call|ring|dial|telefon|nummer|durchwahl)"
        r"\W+(?:\w+ ){0,2}\d{3,}",
        r"\+?\d[\d /()-]{4,}\d|分机|(?:电话|号码|拨打?)\D{0,3}\d{3,}",
    ),
)
_LASTS = _kind(
    asks=("duration|dauer", "时长|期限"),
    holds=(
        f"{spans(NUMBERS, 'an?', 'several', 'few')}|{_SPANNEN}"
        "|immediately|at once|until|till|always|permanently|sofort|bis|characters?|letters?|digits?|zeichen",
        r"\d{1,2}:\d{2}|[\d一二三四五六七八九十两半百][个\s]?(?:年|月|日|天|周|小时|分钟|秒|点|米|字|位)|工作日|立即|永久|长期"
        rf"|\d\s?[ckm]?m\b|{SHORT_SPAN}",
    ),
)
"""What tells how long something is or takes: "pH 4.01" does not, though it is a number."""
_HOW_MUCH_IS = re.compile(r"\bhow much (?:is|are|was|were)\b", re.IGNORECASE)
_SPAN = re.compile(rf"\b(?:{_SPANS})\b", re.IGNORECASE)
_FREQUENCY = _kind(
    asks=("how (?:often|frequently)|wie oft", "(?:多久|多长时间).{0,6}一次|几次"),
    holds=(
        "every|each|once|twice|hourly|daily|nightly|weekly|fortnightly|monthly|yearly|annual(?:ly)?|quarter(?:ly)?"
        f"|(?:\\d+|{NUMBERS}|several) times|jede[nrsm]?|täglich|wöchentlich|monatlich|jährlich|alle"
        f"|(?:ein|zwei|drei|\\d+)mal|(?:\\d+|{NUMBERS})(?: [a-z]+)? (?:per|an?) (?:hour|day|night|week|month|year)",
        "每|次",
    ),
)
_COUNT = _kind(
    asks=(
        "how (?:many|far|old|big|large|heavy|high|deep|wide)|wie (?:viele?|hoch|groß|schwer|weit|alt)"
        "|combien|cuánt[oa]s?",
        "多少|几(?=[天个次台年月小])",
    ),
    holds=(f"{NUMBERS}|none", r"\d|[一二三四五六七八九十百千万两]"),
)
_REASON = _kind(
    asks=("why|what for|reason|cause|warum|weshalb|pourquoi|por qué", "为什么|为何|原因|なぜ|왜"),
    holds=(
        "because|reason|due to|since|therefore|so that|caused? by|causes?(?=:)|weil|grund|parce que|porque",
        "因为|由于|原因|因此",
    ),
)
_PERSON = _kind(
    asks=("who|whom|whose|wer|wen|wem|qui|quién", "谁|哪位|だれ|誰|누구"),
    holds=("lead|manager|director|head|team|department|extension|officer", "@|主管|经理|总监|部门|负责人"),
)
_PLACE = _kind(
    asks=(
        "where|what address|which (?:city|country|place)|wo|wohin|où|dónde|onde",
        "哪里|哪儿|什么地方|何处|どこ|어디",
    ),
    holds=(
        "(?:in|at|near|from|to|on)(?= (?:the )?(?-i:[A-Z]))|address|street|road|park|portal|extension",
        "@|://|位于|地址|[省市县区镇路街号]",
    ),
)
_AMOUNTS = (_PRICE, _RATE, _WHEN, _HOW_LONG, _FREQUENCY, _COUNT)
_TIMES = (_WHEN, _HOW_LONG, _FREQUENCY)
_PLAIN_NUMBER = re.compile(
    rf"(?<![a-z0-9_.-])\d|[一二三四五六七八九十百千万两半]|\b(?:{NUMBERS}|half|once|twice|dozen|hundred|thousand|million"
    "|(?:thir|four|fif|six|seven|eigh|nine)teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundert|tausend"
    "|(?:drei|vier|fünf|sech|sieb|acht|neun)zehn|[a-zäöüß]*(?:zwan|drei|vier|fünf|sech|sieb|acht|neun)(?:zig|ßig)"
    r"|eins?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)\b",
    re.IGNORECASE,
)
"""A number that is no part of a name: not that of TW-200 or v2.3."""
_KINDS = (_PRICE, _RATE, _WHEN, _HOW_LONG, _FREQUENCY, _COUNT, _REASON, _PERSON, _PLACE)


_TEMPERATURE = _kind(asks=("cold|hot|warm|temperature|kalt|warm|temperatur", "温度"), holds=("degrees?|grad", "°|度"))
_TELEPHONE = _kind(
    asks=("(?:tele)?phones?|telefon", "电话"), holds=(r"(?:phone|tel|telephone|telefon)\W{1,3}\+?\d+", "电话")
)
_NUMBER = _kind(asks=("number|nummer", "号码"), holds=(f"none|{NUMBERS}", r"\d"))
_DAYS = _kind(
    asks=("(?:week)?days?|tage?", "星期|日子"),
    holds=(
        f"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|{DAY}",
        CHINESE_DAY,
    ),
)
_LENGTH = _kind(
    asks=("length|height|width|depth|size", "长度|高度|宽度"),
    holds=("characters?|letters?|digits?", r"\d\s?[cm]?m\b|\d\s?[kmg]i?b\b|\d\s?[米字位]"),
)
_LEAST = _kind(
    asks=("minimum|minimal|least|mindest\\w*", "最低|最短"),
    holds=("at least|not? (?:less|fewer) than|mindestens|minimum", "至少|不少于"),
)
_MOST = _kind(
    asks=("maximum|maximal|höchst\\w*", "上限"),
    holds=("at most|up to|limited to|no (?:more|longer) than|höchstens|bis zu|maximum", "最多|最长|不超过"),
)
_NAMED_KINDS = (*_KINDS, _TEMPERATURE, _TELEPHONE, _NUMBER, _DAYS, _LENGTH, _LEAST, _MOST)


def has_number(text: str) -> bool:
    """Whether a text holds a number, in figures or in words."""
    return bool(_PLAIN_NUMBER.search(text))


def is_of_kind(word: str, sentence: str) -> bool:
    """Whether a word only names a kind of answer, such as a rate, a price or a minimum, and the sentence holds one."""
    return any(kind.asks.fullmatch(word) and kind.holds.search(sentence) for kind in _NAMED_KINDS)


class Expectation:
    """The kinds of answer that one question waits for; it may ask several things at once."""

    def __init__(self, question: str) -> None:
        """Read the question words."""
        self._question = question
        asked = [kind for kind in _KINDS if kind.asks.search(question)]
        self._holds: Sequence[re.Pattern[str]] = [kind.holds for kind in asked]
        self._amounts = [kind.holds for kind in asked if kind in _AMOUNTS]

    def met(self, sentence: str) -> float:
        """Return which share of the kinds the sentence holds, 0..1; 0 when the question waits for none of them."""
        if not self._holds:
            return 0.0
        return sum(bool(holds.search(sentence)) for holds in self._holds) / len(self._holds)

    def holds_amount(self, text: str) -> bool:
        """Whether a text holds a number, or says in words what is such an amount ("free", "monthly")."""
        return bool(_PLAIN_NUMBER.search(text)) or any(holds.search(text) for holds in self._amounts)

    def given(self, text: str) -> bool:
        """Whether a text holds the amount, the time or the reason that is waited for."""
        if _REASON.holds in self._holds and not _REASON.holds.search(text):
            return False
        if any(kind.asks.search(self._question) and not kind.holds.search(text) for kind in (_MONEY, _CLOCK, _PHONE)):
            return False
        if _HOW_MUCH_IS.search(self._question) and not self.holds_amount(_SPAN.sub("", text)):
            return False
        if self._amounts == [_HOW_LONG.holds]:
            return bool(_LASTS.holds.search(text))
        if any(kind.holds in self._amounts for kind in (_WHEN, _FREQUENCY)):
            return any(kind.holds.search(text) for kind in _TIMES)
        return not self._amounts or self.holds_amount(text)

    def telling(self, cell: str) -> bool:
        """Whether a cell of a table, with its column's name, holds a kind that any number would not do for."""
        return any(holds.search(cell) for holds in self._holds if holds is not _COUNT.holds)

    def missing(self, sentences: Iterable[str]) -> "Expectation":
        """Return what is still waited for when these sentences have been said."""
        text = "\n".join(sentences)
        rest = Expectation("")
        rest._holds = [holds for holds in self._holds if not holds.search(text)]
        return rest
