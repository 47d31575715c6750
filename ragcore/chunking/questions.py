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
_ASKING_LINE = re.compile(r"^[ \t]{0,8}+(?P<line>[^\n]{2,300}[?？؟][*_]{0,3})[ \t]{0,8}$", re.MULTILINE)
_ENDED = re.compile(r"[.!。！…][\"”»」』)）]*$")
_SENTENCES = re.compile(r"[.!?…]\s|[。！？]")
_MOST_BESIDE_TEXT = 120
"""Characters of a question that follows an answer on the very next line."""
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

    A span with no question ("") is what stands between pairs. ``is_apart``: the heading over the text is a question
    that has its own answer before this pair.
    """

    start: int
    end: int
    answer: int = 0
    question: str = ""
    is_apart: bool = False


def is_question(line: str) -> bool:
    """Tell whether a line, such as a heading, asks something: by its question mark, else by how it begins."""
    asked = plain_question(line)
    return bool(_ASKING_END.search(asked) or _ASKING_START.match(asked) or _ASKING_CJK.match(asked))


def has_question_mark(line: str) -> bool:
    """Tell whether a line ends in a question mark."""
    return bool(_ASKING_END.search(line))


def plain_question(text: str) -> str:
    """Return a question on one line, without its mark, number, bullets and emphasis."""
    line = " ".join(_QUESTION.sub("", text).split())
    return re.sub(rf"^{_DRESS}", "", line).strip("*_# ") or line


def find_pairs(text: str, heading: str = "") -> list[Pair]:
    """Return the questions with their answers and the spans between them, which tile the text; [] without any.

    Marked questions are looked for first; before them, or without any, the ``heading`` over the text is judged, then
    lines that ask.
    """
    found, asks = _marked(text), bool(heading) and is_question(heading)
    if not found:
        return _under_heading(text, heading) if asks else _tiled(text, _asking_lines(text))
    first = _QUESTION.search(text)
    leading = text[: first.start()] if first else ""
    before = _under_heading(leading, heading) if asks else _asking_lines(leading)
    is_apart = bool(before) and asks and has_question_mark(heading)
    return _tiled(text, [*before, *(replace(pair, is_apart=is_apart) for pair in found)])


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
    asked = _asking(text)
    ends = [*(match.start() for match in asked), len(text)][1:]
    return [
        Pair(start=match.start(), end=end, answer=match.end() + 1, question=plain_question(match["line"]))
        for match, end in zip(asked, ends, strict=True)
        if text[match.end() : end].strip()
    ]


def _asking(text: str) -> list[re.Match[str]]:
    """Return the lines that ask: with a blank line above, or further on in a paragraph that begins with such a line."""
    asked: list[re.Match[str]] = []
    paragraph_end = 0
    for match in _ASKING_LINE.finditer(text):
        start = match.start()
        if start == 0 or text.startswith("\n\n", start - 2):
            end = text.find("\n\n", match.end())
            paragraph_end = end if end >= 0 else len(text)
            asked.append(match)
        elif start < paragraph_end and _follows_answer(text[text.rfind("\n", 0, start - 1) + 1 : start], match["line"]):
            asked.append(match)
    return asked


def _follows_answer(above: str, line: str) -> bool:
    """Tell whether a line is nothing but a question, below one that ends a sentence: no part of wrapped text."""
    asked = plain_question(line)
    return (
        bool(_ENDED.search(above.rstrip()))
        and len(asked) <= _MOST_BESIDE_TEXT
        and not asked[:1].islower()
        and not _SENTENCES.search(asked[:-1])
    )


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
