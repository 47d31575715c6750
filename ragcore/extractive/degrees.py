"""Words that grade: extremes such as *largest* and comparisons such as *larger*, each by its scale. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SCALES = """
big large great high tall | most meiste größte höchste | more mehr größer höher
small little low | least fewest wenigste kleinste niedrigste geringste | less fewer weniger kleiner niedriger geringer

old | älteste | älter
young new | jüngste neueste | jünger neuer

long | längste | länger
short | kürzeste | kürzer

heavy | schwerste | schwerer
light | leichteste | leichter

costly | teuerste | teurer
cheap | billigste günstigste | billiger günstiger

fast quick | schnellste | schneller
slow | langsamste | langsamer

late | späteste | später
early | früheste | früher

far | farthest furthest weiteste | farther further weiter
near close | nächstgelegene | näher

strong | stärkste | stärker
weak | schwächste | schwächer

hot warm | heißeste wärmste | heißer wärmer
cold cool | kälteste | kälter

wide broad | breiteste | breiter
narrow | schmalste | schmaler

hard tough | schwierigste | schwieriger
easy simple | einfachste | einfacher

good | best beste | better besser
bad | worst schlechteste | worse schlechter

frequent | häufigste | häufiger
rare | seltenste | seltener

thick | dickste | dicker
thin | dünnste | dünner

bright | hellste | heller
dark | dunkelste | dunkler

deep | tiefste | tiefer
shallow | flachste | flacher

busy | |
calm quiet | ruhigste | ruhiger

safe | sicherste | sicherer
risky | |
"""
"""Two lines a scale, one for each end: English adjectives, of which the forms are made, then other superlatives, then
other comparatives."""
_CHINESE_ENDS = (
    ("多大高", "少小低"),
    ("老旧", "新"),
    ("长", "短"),
    ("重", "轻"),
    ("贵", "便"),
    ("快", "慢"),
    ("晚迟", "早"),
    ("好佳", "差"),
)
"""The characters behind 最 that go towards one end of a scale, and those towards the other."""
_CHINESE_MOST = re.compile("最(?!近|后|终|初|好)(?P<what>[\u3400-\u9fff])|居首|首位|第一大")
_CHINESE_MORE = re.compile("更|[比较](?!例|赛|率|重)|不如|一样|[高低多少大小早晚快慢]于")
_COMPARED = "比"
_OTHER_MOST = re.compile(r"\b(?:le|la|les|el|los|las) (?:\w+ )?(?P<end>plus|más|moins|menos)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_THAN_ALL = re.compile(r"\b(?:than|als) (?:any|all|every|the others?|jede[rsn]?|alle)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Degree:
    """What a word says that grades: on which scale, towards which end of it, and whether it leaves no other beyond it.

    A Chinese comparison tells neither scale nor end.
    """

    scale: str
    end: int
    most: bool

    @property
    def is_chinese(self) -> bool:
        """Whether it is told by Chinese characters: its scale is named by them."""
        return not self.scale.isascii()


def _made(adjective: str, ending: str) -> str:
    """Return the form of an English adjective: *big* is bigger, *early* earlier, *late* later."""
    if re.search(r"[^aeiou][aeiou][dgnt]$", adjective):
        return adjective + adjective[-1] + ending
    return re.sub("y$", "i", adjective).removesuffix("e") + ending


def _forms() -> Iterator[tuple[str, Degree]]:
    """Yield each form with its degree; German ones inflected, and the English ones beside them as well, in vain."""
    for scale in _SCALES.strip().split("\n\n"):
        for end, line in enumerate(scale.splitlines()):
            adjectives, most, more = (part.split() for part in line.split("|"))
            for ending, inflected, others in (
                ("est", ("", "n", "r", "s", "m"), most),
                ("er", ("", "e", "en", "es"), more),
            ):
                degree = Degree(scale.split()[0], end, ending == "est")
                yield from ((_made(adjective, ending), degree) for adjective in adjectives)
                yield from ((form + last, degree) for form in others for last in inflected)


_DEGREES = dict(_forms())


def degrees(text: str) -> Iterator[Degree]:
    """Yield the degrees that a text has, in no order."""
    for word in _WORD.findall(text.lower()):
        if word in _DEGREES:
            yield _DEGREES[word]
    for found in _OTHER_MOST.finditer(text):
        yield Degree(_DEGREES["most"].scale, int(found["end"].lower() in {"moins", "menos"}), True)
    for found in _CHINESE_MOST.finditer(text):
        yield _chinese(found["what"] or "大")
    if _CHINESE_MORE.search(text):
        yield Degree(_COMPARED, 0, False)


def _chinese(what: str) -> Degree:
    """Return the degree that 最 and a character are: 最多, 最大 and 最高 go the same way."""
    for ends in _CHINESE_ENDS:
        for end, characters in enumerate(ends):
            if what in characters:
                return Degree(ends[0], end, True)
    return Degree(what, 0, True)


def goes_beyond_all(text: str) -> bool:
    """Whether a text compares a thing with all others: "more boxes than any other" is an extreme."""
    return bool(_THAN_ALL.search(text))


def meets(asked: Degree, said: Degree, beyond_all: bool) -> bool:
    """Whether a degree is that which is asked for: an extreme is one end of a scale, a comparison may go either way."""
    if asked.most:
        return (asked.scale, asked.end) == (said.scale, said.end) and (said.most or beyond_all)
    return asked.scale == said.scale or (asked.scale == _COMPARED and said.is_chinese)


def grades_alike(word: str, text: str) -> bool:
    """Whether a word is an extreme or a comparison, and the text has the same in any form: *biggest*, *largest*."""
    asked = _DEGREES.get(word.lower())
    return asked is not None and any(meets(asked, said, goes_beyond_all(text)) for said in degrees(text))
