"""Questions and their answers in running text: ``Q: ... A: ...``, ``问：…… 答：……``, a line that is a question.

One pass of each pattern over the text, all of them anchored at a line or a mark: linear.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

_ASKED = "Q|Question|Frage|Pregunta|Domanda|Вопрос|问题|提问|问|問題|問|質問"
_ANSWERED = "Ans|Answer|A|Antwort|Respuesta|Réponse|Risposta|Ответ|答案|回答|解答|答"
_DRESS = r"[ \t>#*_•-]{0,12}(?:\d{1,4}[.)、．][ \t]?)?[*_]{0,3}"
_NUMBER = r"[ \t]?[.#]?\d{0,4}"
_SIGN = r"[*_]{0,3}[ \t]?(?:[:：]|(?<=\d)[.)、．])[*_]{0,3}"
_QUESTION = re.compile(rf"^{_DRESS}(?:{_ASKED}){_NUMBER}{_SIGN}", re.MULTILINE | re.IGNORECASE)
_ANSWER = re.compile(
    rf"^{_DRESS}(?:{_ANSWERED}){_NUMBER}{_SIGN}"
    rf"|(?<=[?？])[*_\"”]{{0,3}}[ \t\u3000]{{0,4}}[*_]{{0,3}}(?:{_ANSWERED}){_NUMBER}[*_]{{0,3}}[:：]"
    rf"|(?<=[ \t\u3000])(?:Answer|答案|回答|解答|答)[:：]",
    re.MULTILINE | re.IGNORECASE,
)
_ASKING_LINE = re.compile(r"(?:\A|(?<=\n\n))[ \t]{0,8}+(?P<line>[^\n]{2,300}[?？؟][*_]{0,3})[ \t]{0,8}$", re.MULTILINE)
_ASKING_END = re.compile(r"[?？؟][\s*_\"”»」』)）]*$")
_ASKING_START = re.compile(
    r"(?:how (?:to|do|does|did|can|should|could|much|many|long|often)|(?:what|when|where|why|who|which) (?:is|are|do"
    r"|does|did|can|should|will)|(?:can|could|should|do|does|is|are|may|will) (?:i|we|you|my|our|it|there)"
    r"|wie (?:kann|oft|viel|lange)"
    r"|was (?:ist|sind|tun)|wo (?:finde|ist)|warum |comment |pourquoi |cómo |qué |por qué )\b",
    re.IGNORECASE,
)
_ASKING_CJK = re.compile(
    r"如何|怎么|怎樣|怎样|为什么|为何|為什麼|什么是|什麼是|是否|能否|可否|哪些|哪里|多少|[\w\W]{2,80}[吗嗎呢]$"
)
_HEADINGS = re.compile(r"(?:[^\S\n]*\n|#{1,6}[^\S\n][^\n]*(?:\n|\Z))*")
_MOST_PHRASINGS = 5
"""Questions in a row that one answer may follow; more of them are a list of what is asked elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """``text[start:end]``: a question, and from ``answer`` on what answers it. ``question`` is it in plain words.

    A span with no question ("") is what stands between pairs.
    """

    start: int
    end: int
    answer: int = 0
    question: str = ""


def is_question(line: str) -> bool:
    """Tell whether a line, such as a heading, asks something: by its question mark, else by how it begins."""
    asked = plain_question(line)
    return bool(_ASKING_END.search(asked) or _ASKING_START.match(asked) or _ASKING_CJK.match(asked))


def plain_question(text: str) -> str:
    """Return a question on one line, without its mark, number, bullets and emphasis."""
    line = " ".join(_QUESTION.sub("", text).split())
    return re.sub(rf"^{_DRESS}", "", line).strip("*_# ") or line


def find_pairs(text: str, heading: str = "") -> list[Pair]:
    """Return the questions with their answers and the spans between them, which tile the text; [] without any.

    Marked questions are looked for first, then the ``heading`` over the text is judged, then lines that ask.
    """
    found = _marked(text)
    if not found and heading and is_question(heading):
        return _under_heading(text, heading)
    return _tiled(text, found or _asking_lines(text))


def headings_end(text: str) -> int:
    """Return where the headings with which a text begins, and blank lines, end."""
    match = _HEADINGS.match(text)
    return match.end() if match else 0


def _under_heading(text: str, heading: str) -> list[Pair]:
    answer = headings_end(text)
    if not text[:answer].strip() or not text[answer:].strip():
        return []
    return [Pair(start=0, end=len(text), answer=answer, question=plain_question(heading))]


def _marked(text: str) -> list[Pair]:
    asked = list(_QUESTION.finditer(text))
    if not asked:
        return []
    ends = [match.start() for match in asked[1:]] + [len(text)]
    answers = list(_ANSWER.finditer(text))
    pairs: list[Pair] = []
    waiting: list[re.Match[str]] = []
    at = 0
    for match, end in zip(asked, ends, strict=True):
        while at < len(answers) and answers[at].start() < match.end():
            at += 1
        answer = answers[at].start() if at < len(answers) and answers[at].start() < end else None
        if answer is None:
            line_end = text.find("\n", match.end(), end)
            answer = line_end + 1 if line_end >= 0 else end
        waiting.append(match)
        question = text[match.end() : answer]
        if not question.strip() or len(waiting) > _MOST_PHRASINGS:
            waiting = []
        elif text[answer:end].strip():
            phrasings = [text[one.end() : two.start()] for one, two in pairwise(waiting)]
            words = " ".join(plain_question(words) for words in (*phrasings, question))
            pairs.append(Pair(start=waiting[0].start(), end=end, answer=answer, question=words))
            waiting = []
        elif "\n\n" in text[answer - 1 : end]:
            waiting = []
    return pairs


def _asking_lines(text: str) -> list[Pair]:
    asked = list(_ASKING_LINE.finditer(text))
    if not asked:
        return []
    ends = [match.start() for match in asked[1:]] + [len(text)]
    return [
        Pair(start=match.start(), end=end, answer=match.end() + 1, question=plain_question(match["line"]))
        for match, end in zip(asked, ends, strict=True)
        if text[match.end() : end].strip()
    ]


def _tiled(text: str, pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with what stands between them; blanks go with what is before, headings with what they head."""
    if not pairs:
        return []
    tiles: list[Pair] = []
    place = 0
    for pair in pairs:
        between = text[place : pair.start]
        if headings_end(between) == len(between):
            if tiles and not between.strip():
                tiles[-1] = replace(tiles[-1], end=pair.start)
                place = pair.start
            tiles.append(replace(pair, start=place))
        else:
            tiles += [Pair(start=place, end=pair.start), pair]
        place = pair.end
    if text[place:].strip():
        tiles.append(Pair(start=place, end=len(text)))
    else:
        tiles[-1] = replace(tiles[-1], end=len(text))
    return tiles
