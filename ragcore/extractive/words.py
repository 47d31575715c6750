"""The words of questions and sentences, brought to one form, and how much each word of a question tells. Pure."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ragcore.terms import Kind, Term, is_stop_word, terms
from ragcore.terms.normal import fold, stem

_FORMS = """
lose lost|pay paid|buy bought|send sent|keep kept|hold held|build built|break broke broken|steal stole stolen
take took taken|give gave given|write wrote written|choose chose chosen|forget forgot forgotten|go goes went gone
come came|begin began begun|spend spent|bring brought|sell sold|fall fell fallen|drive drove driven
fly flew flown flight flights|grow grew grown|lead led|meet met|run ran|speak spoke spoken|wear wore worn|win won
catch caught|teach taught|hide hid hidden|freeze froze frozen|wake woke woken|draw drew drawn|throw threw thrown
rise rose risen|feed fed|child children|man men|woman women|person people|foot feet|tooth teeth
"""
_BASE_OF = {
    form: stem(base)
    for entry in _FORMS.replace("\n", "|").split("|")
    if entry
    for base, *forms in [entry.split()]
    for form in forms
}
_LIGHT_ENGLISH = """
happen tell explain describe know want need like get give find make use mean say come go take thing something way much
many long soon often far old big possible allow able kind type sort please help must new now ask look exist there
anybody someone everybody everyone company date time amount reason contact per show done
solution instruction issue problem try related properly interested sure step quickly early late due
"""
_LIGHT_CHINESE = """
需要 应该 应当 多长 多久 多大 知道 告诉 介绍 一般 公司 进行 必须 怎么 如何 最多 最少 至少
"""
_LIGHT_GERMAN = """
wann wie wo wer wen wem wessen warum welche welcher welches welchen welchem ist sind wird werden muss müssen kann können
darf dürfen soll sollen haben viel viele hoch ich wir du ihr sie es ein eine einen einem einer eines
der das den dem des und oder nicht mit für auf von vom zu zum zur bei beim bis nach über unter aus vor im ins an am
hat hatte wurde wurden
lange schnell oft weit schwer man mein meine meinen meinem meiner woher wohin wieviel wieso weshalb
"""
_LIGHT = {stem(fold(word)) for word in (_LIGHT_ENGLISH + _LIGHT_GERMAN).split()} | set(_LIGHT_CHINESE.split())
_LIGHT_NOUNS = frozenset(map(stem, ("company", "date", "time", "amount", "reason", "contact")))
"""Light by themselves, but not right before another word: a company car is not any car."""
_AUXILIARY = frozenset(map(stem, ("do", "does", "did")))
_DERIVED = re.compile("(?:ance|ence|ment|ness|ation)s?$")
"""A noun of its own, though its stem is that of a light word: an allowance is more than that something is allowed."""
_LIGHT_SHARE = 0.3
"""What a word that many questions have weighs beside one that tells what this one is about."""
LIGHTEST = 0.5
"""Words that weigh less for themselves, such as "tell" or "happen", are not what is asked."""
_PARTICLES = frozenset("的了吗嗎呢吧是在与與和有几幾个個多少什么麼怎哪谁誰何为為么要会能可最更比")
_CHINESE_WORDS = """
更换 更新 更改 更正 变更 会员 会议 会计 社会 协会 开会 年会 大会 聚会 会费 会场 会长 员会 要求 重要 主要 功能 能源 性能
能力 智能 节能 职能 在线 在职 参与 为期 行为 个人 比例 比赛 比重 最终 目的 饱和 中和 总和
"""
_WHOLE_WORDS = frozenset(_CHINESE_WORDS.split())
"""Words with a character that is a particle by itself."""
_FRAME = re.compile(
    "请问|(?:什么|哪些|何种)(?:情况|条件)下?|什么时候|什么时间|什么地方|为什么|为何|什么样|什么|怎么样|怎么|怎样|如何|多长时间|多长|多久|多少钱[一每][晚夜天日月年周次位人张斤]|有?多少[天年个次元钱人]?|多大|哪些|哪个|哪里|哪儿|哪一?[年月天种家位]"
    "|几[天年月日个次种点位]|(?<!第)一次|是否|能否|可不可以|可以|有没有|需要|应该|应当|必须|一般|通常|吗|呢|吧|的|了|是|那(?=.{1,6}呢)|由谁|谁|过后"
)
"""What frames a Chinese question. It parts words: a pair of characters across its border is nobody's word."""
TIMES = frozenset(map(stem, ("minute", "hour", "day", "week", "month", "year")))
"""Terms that measure time: a sentence with a span has one of them, whatever it is the span of."""
_NUMBERED = re.compile(
    r"\b(?!(?:which|that|this|the|no|any|some|every|each|another|for|by|of|in|to|or|and|is)\b)\w+ one\b(?! \w)",
    re.IGNORECASE,
)
"""One as the number of a thing, as in "house one"; elsewhere it is hardly more than an article."""
_ADDRESS = re.compile(r"@|://")
_WHICH = re.compile(r"\b(?:which|what) $", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.!?。！？:\n])\W*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A telling word of a question.

    ``written`` is lower case. ``weight`` is above 0; rarity is not part of it. ``names`` says that it names a thing or
    a person, an identifier or a word with a capital, rather than what is asked of it; ``is_code``, that it is an
    identifier with a digit. ``across`` are the terms of an unspaced script that share a character with it: of two words
    that stand side by side the pair between is none.
    """

    term: str
    written: str
    weight: float
    names: bool
    is_code: bool = False
    across: frozenset[str] = frozenset()


def content(text: str) -> dict[str, str]:
    """Return the terms that carry meaning, each with how it is first written, in lower case.

    Without function words and without single characters of scripts that pairs cover; irregular forms by their base.
    What an e-mail or web address is made of says nothing: it counts as a whole only.
    """
    found: dict[str, str] = {}
    address = 0
    for term in terms(text):
        if term.start < address:
            continue
        if term.kind is Kind.IDENTIFIER and _ADDRESS.search(text[term.start : term.end]):
            address = term.end
        written = text[term.start : term.end].lower()
        if not _says_nothing(term, written):
            found.setdefault(_base(term, written), written)
    return found


def question_words(question: str, *, identifier: float) -> list[Word]:
    """Return the telling words of a question; an identifier weighs that many times as much as a word."""
    question = _FRAME.sub(lambda frame: " " * len(frame.group()), question)
    kinds: dict[str, Term] = {}
    for term in terms(question):
        kinds.setdefault(_base(term, question[term.start : term.end].lower()), term)
    codes = [(term.start, term.end) for term in kinds.values() if term.kind is Kind.IDENTIFIER]
    words = []
    for text, written in content(question).items():
        term = kinds[text]
        is_code = term.kind is Kind.IDENTIFIER
        of_code = any(start <= term.start and term.end <= end for start, end in codes)
        straddles = term.kind is Kind.PAIR and text not in _WHOLE_WORDS and any(one in _PARTICLES for one in text)
        light = (
            text in _LIGHT and not _DERIVED.search(written) and not _modifies(question, text, term, kinds)
        ) or straddles
        light = light or of_code or (text == "one" and not _NUMBERED.search(question))
        weight = identifier if is_code else _LIGHT_SHARE if light else 1.0
        names = of_code or _capital(question, term)
        across = frozenset(other for other, one in kinds.items() if _overlap(term, one))
        words.append(
            Word(term=text, written=written, weight=weight, names=names, is_code=_is_code(term), across=across)
        )
    return words


def holds_code(text: str) -> bool:
    """Whether a text holds an identifier with a digit, such as an error code, a version or a part number."""
    return any(_is_code(term) for term in terms(text))


def without_straddling(words: list[Word], known: Collection[str]) -> list[Word]:
    """Return the words, light where a pair that is not ``known`` straddles the border of one that is."""
    return [
        replace(word, weight=min(word.weight, _LIGHT_SHARE))
        if word.term not in known and any(other in known for other in word.across)
        else word
        for word in words
    ]


def weights(words: list[Word], rarity: Mapping[str, float]) -> list[float]:
    """Return the weights of words with their rarity, made to sum up to 1; an empty list for none."""
    raw = [word.weight * rarity[word.term] for word in words]
    total = sum(raw)
    return [one / total for one in raw]


def _says_nothing(term: Term, written: str) -> bool:
    return term.kind is Kind.CHARACTER or is_stop_word(term) or is_stop_word(re.sub("['’]", "", written))


def _is_code(term: Term) -> bool:
    return term.kind is Kind.IDENTIFIER and any(character.isdigit() for character in term.text)


def _base(term: Term, written: str) -> str:
    return _BASE_OF.get(written, term.text) if term.kind is Kind.WORD else term.text


def _modifies(question: str, text: str, term: Term, others: Mapping[str, Term]) -> bool:
    """Whether a light noun stands right before another telling word of the question, not as "which company sells"."""
    if _WHICH.search(question, 0, term.start):
        return False
    behind = (
        one
        for other, one in others.items()
        if one.start == term.end + 1 and other not in _LIGHT and other not in _AUXILIARY
    )
    return text in _LIGHT_NOUNS and not all(is_stop_word(one) for one in behind)


def _overlap(term: Term, other: Term) -> bool:
    """Whether two different pairs of characters share one."""
    pairs = term.kind is Kind.PAIR and other.kind is Kind.PAIR
    return pairs and 0 < abs(term.start - other.start) < 2


def _capital(text: str, term: Term) -> bool:
    """Whether a word has a capital that the start of a sentence doesn't explain."""
    return text[term.start].isupper() and not _SENTENCE_START.search(text[: term.start])
