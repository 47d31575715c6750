"""What a question names to the letter: an identifier, or a number with what stands around it.

``ISO 9001``, ``§ 12(3)``, ``#1234``, ``国发〔2023〕5号`` are references as much as ``ERR_CONN_104`` is, and people
write the same one in several ways: ``ISO9001``, ``ERR CONN 104``, ``国发[2023]5号``. So question and chunk are read as
atoms (a run of letters, a number, a sign, one character of an unspaced script), whatever stands between them. Each
reference has a core that a chunk must hold whole; among the chunks that do, those are meant in which most of what
stands around it agrees, too: of ``SHOP 814`` the core is the number, and ``SHOP-814`` agrees further than ``PAY-814``.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from ragcore.terms import Kind, Term, is_stop_word
from ragcore.terms.normal import fold, stem
from ragcore.terms.scripts import UNSPACED

MAX_REFERENCES = 12
"""References of one question that are looked for: a pasted log has hundreds, and means few of them."""
MOST_BEFORE = 8
MOST_AFTER = 4
"""Atoms on either side of a core that are compared: names grow to the left, and what follows is sooner a sentence."""
GOES_ON = 0.5
"""What a core counts that goes on where the question's does not: ``v2.3.1.4`` for ``v2.3.1``."""
_TELLING_DIGITS = 5
"""So many digits that agree are no year and no amount, but the number of something. A number of fewer says nothing by
itself: something around it must agree, too."""
_TELLING_BESIDE = 4
"""So many are enough where what stands beside them agrees, too."""
_MAX_ATOMS = 64
"""Longer cores are left to the index: nobody types them, or writes them in another way."""
_READ = 48
"""Characters on either side of a place that are read for the atoms there."""

_NUMBER = r"\d{1,3}(?:,\d{3})+(?!\d)|\d+"
_LETTER = rf"(?:(?![{UNSPACED}])[^\W\d_])"
_TIE = r"[-‐‑–—−_./\\:@()\[\]〔〕（）［］【】]{1,3}"
_WORD_OR_NUMBER = rf"(?:{_LETTER}+|{_NUMBER})"
_TIED = re.compile(rf"{_WORD_OR_NUMBER}(?:(?:{_TIE})?{_WORD_OR_NUMBER})*")
_CAPITALS = rf"(?<!{_LETTER})(?<!\d)[A-Z]{{2,}}(?!{_LETTER})(?!\d)"
_CORE = re.compile(rf"{_CAPITALS}(?: {_CAPITALS}){{2,}}|{_TIED.pattern}")
_AFTER_CAPITALS = re.compile(rf"{_CAPITALS}[ \-]?$")
_ONLY_CAPITALS = re.compile(rf"(?:{_CAPITALS}\W+){{5}}")
"""Who writes everything in capitals sets no names apart by them."""
_BRACKETED = re.compile(r"\d[()\[\]〔〕（）［］【】]\d")
_ATOM = re.compile(rf"(?P<number>{_NUMBER})|{_LETTER}+|[{UNSPACED}#§№]")
_SIGNS = dict.fromkeys(("#", "№", "no", "nr", "number", "第"), "#") | dict.fromkeys(
    ("§", "section", "sec", "paragraph"), "§"
)
"""What people write before a number to say that it is one of many; one is as good as its name."""
_SIGNED = {(sign,) for sign in _SIGNS.values()}
_PASSED_OVER = {"年", "第", *_SIGNS.values()}
"""What one writes beside a number and another leaves out."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_BETWEEN = r"[^\w\n,;!?。，；！？、]"
"""What may stand between two atoms of one name, however it is written; not what parts sentences."""
_PART_OF_NAME = re.compile(rf"{_BETWEEN}{{0,3}}_{{0,2}}")
_CONTINUED = re.compile(rf"(?:[)\]）〕］】]?[-‐‑_./\\:@(]|(?=\w))(?:{_LETTER}|\d)")
_CONTINUING = re.compile(r"\d[-‐‑./:]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """One reference of a question.

    ``core``: its atoms. ``before`` and ``after``: the atoms around it, the nearest first. ``whole``: the term for all
    of it, where there is one. ``names``: sets of terms, as an index has them, one of which a chunk that holds it has
    whole. ``sure`` says that it names something, whatever the question; else it may be a measure or an amount.
    """

    core: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    whole: str = ""
    names: tuple[tuple[str, ...], ...] = ()
    sure: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Agreement:
    """How many atoms a text shares with a reference in one place, less where it goes on, and how many digits."""

    size: float
    digits: int

    def is_enough(self, reference: Reference) -> bool:
        """Whether a text with it holds the reference: of a lone number of few digits something beside it must agree.

        Of two digits without a sign, other numbers: 10 follows 1 in any list.
        """
        number = reference.core[0]
        if len(reference.core) > 1 or not number.isdigit() or len(number) >= _TELLING_DIGITS:
            return self.size > 0
        return self.size >= 2 and (reference.sure or len(number) > 2 or self.digits >= _TELLING_BESIDE)

    def is_sure(self, reference: Reference) -> bool:
        """Whether what agrees surely names something: by the look of the reference, or since it is so much."""
        if reference.sure:
            return self.digits >= 2 or self.size >= 3
        return self.digits >= (_TELLING_BESIDE if self.size >= 2 else _TELLING_DIGITS)


NO_AGREEMENT = Agreement(size=0.0, digits=0)


def references(text: str, found: Sequence[Term]) -> tuple[Reference, ...]:
    """Return the references of a question in order, each once; ``found`` are the question's terms."""
    silent = {(term.start, term.end) for term in found if is_stop_word(term) and not _is_letter(text, term)}
    capitals = not _ONLY_CAPITALS.search(text)
    named: dict[tuple[str, ...], Reference] = {}
    for place in (_CORE if capitals else _TIED).finditer(text):
        core = tuple(_atoms(place.group()))
        if core in named or not 0 < len(core) <= _MAX_ATOMS or len(named) == MAX_REFERENCES:
            continue
        before = tuple(_before(text, place.start(), silent))
        after = tuple(takewhile(_is_no_word, _after(text, place.end(), silent)))
        inside = [term for term in found if place.start() <= term.start and term.end <= place.end()]
        whole = [term.text for term in inside if term.kind is Kind.IDENTIFIER and _covers(term, place)]
        signed = core[0].isdigit() and before[:1] in _SIGNED
        after_capitals = capitals and core[0].isdigit() and _AFTER_CAPITALS.search(text, 0, place.start()) is not None
        if whole or signed or after_capitals or _may_name(core):
            named[core] = Reference(
                core=core,
                before=before,
                after=after,
                whole=next(iter(whole), ""),
                names=tuple(_names(core, before, after, inside)),
                sure=bool(whole or signed or _BRACKETED.search(place.group()))
                or (after_capitals and not _YEAR.fullmatch(place.group())),
            )
    return tuple(named.values())


def agreement_with(reference: Reference, text: str) -> Agreement:
    """Return how far a text agrees with a reference where it does most, ``NO_AGREEMENT`` where it lacks the core."""
    best = NO_AGREEMENT
    for place in _pattern(reference.core).finditer(text):
        before = _common(reference.before, _before(text, place.start()))
        after = _common(reference.after, _after(text, place.end()))
        agreed = (*reference.core, *before, *after)
        goes_on = not after and _CONTINUED.match(text, place.end())
        comes_from = not before and _CONTINUING.search(text, max(0, place.start() - 2), place.start())
        size = len(agreed) * (GOES_ON if goes_on or comes_from else 1.0)
        digits = sum(len(atom) for atom in agreed if atom.isdigit())
        best = max(best, Agreement(size=size, digits=digits))
    return best


def _may_name(core: Sequence[str]) -> bool:
    """Whether a core without a sign may be a name: several atoms with a number, or a number, but no digit or year."""
    if len(core) > 1:
        return len(core) > 2 or any(atom.isdigit() for atom in core)
    return len(core[0]) > 1 and core[0].isdigit() and _YEAR.fullmatch(core[0]) is None


def _is_no_word(atom: str) -> bool:
    """Whether what follows a number may belong to its name: a word there says what is counted (``75 days``)."""
    return len(atom) == 1 or atom.isdigit()


def _covers(term: Term, place: re.Match[str]) -> bool:
    return (term.start, term.end) == place.span()


def _is_letter(text: str, term: Term) -> bool:
    """Whether a term is a single capital: beside a number it is no function word."""
    return term.end - term.start == 1 and text[term.start].isupper()


def _names(
    core: Sequence[str], before: Sequence[str], after: Sequence[str], inside: Sequence[Term]
) -> Iterator[tuple[str, ...]]:
    """Yield the sets of terms: the parts that the analysis finds, the atoms, and the atoms written as one word."""
    smallest = [
        term.text
        for term in inside
        if not any(term.start <= other.start and other.end <= term.end and other is not term for other in inside)
    ]
    yield tuple(dict.fromkeys(smallest))
    yield tuple(dict.fromkeys(stem(atom) for atom in core if len(atom) > 1 or len(core) == 1))
    yield tuple(atom for atom in core if atom.isdigit())
    for beside in (*before[:1], *after[:1]):
        yield (*smallest, stem(beside))
    left = [atom for atom in reversed(before[:2]) if atom.isascii() and atom.isalnum()]
    right = [atom for atom in after[:2] if atom.isascii() and atom.isalnum()]
    for first in range(len(left) + 1):
        for last in range(len(right) + 1):
            together = [*left[first:], *core, *right[:last]]
            if len(together) > 1:
                yield ("".join(together),)


@lru_cache(maxsize=1_000)
def _pattern(core: tuple[str, ...]) -> re.Pattern[str]:
    """Return what finds a core's atoms one after the other, whole."""
    pattern = ""
    for place, atom in enumerate(core):
        if place:
            differ = atom.isdigit() != core[place - 1].isdigit()
            pattern += rf"(?:{_BETWEEN}|_){{{0 if differ else 1},3}}"
        number = atom.isdigit()
        pattern += rf"(?<!\d)0*{atom}(?!\d)" if number else rf"(?<!{_LETTER}){re.escape(atom)}(?!{_LETTER})"
    return re.compile(pattern, re.IGNORECASE)


def _atoms(text: str) -> Iterator[str]:
    """Yield the atoms of a text in their normal form."""
    yield from filter(None, map(_normal, _ATOM.finditer(text)))


def _normal(atom: re.Match[str]) -> str:
    """Fold an atom; numbers lose their separators and leading zeros, and signs have one form."""
    written = atom.group()
    if atom["number"]:
        return written.replace(",", "").lstrip("0") or "0"
    return fold(written)


def _after(text: str, place: int, silent: Collection[tuple[int, int]] = ()) -> list[str]:
    """Return the atoms that follow a place, up to the end of the name or a function word."""
    found: list[str] = []
    end = place
    for atom in _ATOM.finditer(text, place, place + _READ):
        if len(found) == MOST_AFTER or atom.span() in silent or not _PART_OF_NAME.fullmatch(text, end, atom.start()):
            break
        found.append(_normal(atom))
        end = atom.end()
    return found


def _before(text: str, place: int, silent: Collection[tuple[int, int]] = ()) -> list[str]:
    """Return the atoms before a place, the nearest first, down to the start of the name or a function word."""
    found: list[str] = []
    start = place
    for atom in reversed(list(_ATOM.finditer(text, max(0, place - _READ), place))):
        sign = _SIGNS.get(atom.group().lower()) if not found else None
        if len(found) == MOST_BEFORE or (atom.span() in silent and not sign):
            break
        if not _PART_OF_NAME.fullmatch(text, atom.end(), start):
            break
        found.append(sign or _normal(atom))
        start = atom.start()
    return found


def _common(asked: Sequence[str], written: Sequence[str]) -> list[str]:
    """Return the atoms that agree, from the core outwards; a sign that only one of them has is passed over."""
    agreed: list[str] = []
    one, other = list(asked), list(written)
    while one and other:
        if one[0] == other[0]:
            agreed.append(one.pop(0))
            other.pop(0)
        elif one[0] in _PASSED_OVER and other[0] not in _PASSED_OVER:
            one.pop(0)
        elif other[0] in _PASSED_OVER and one[0] not in _PASSED_OVER:
            other.pop(0)
        else:
            break
    return agreed
