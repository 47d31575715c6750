"""What a model makes of a question, read out of its reply and believed only as far as it can be held to it. Pure.

What is read here is searched for and never shown as an answer. A reply may be anything: prose, half a JSON, the prompt
once more, an answer, or what an injection in the question made of it. Whatever doesn't look like the question in other
words is dropped, and the search goes on with the question as it was asked.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragcore.citations.languages import told_by_itself
from ragcore.citations.small_words import SMALL_WORDS
from ragcore.errors import ModelBadOutput
from ragcore.json_replies import list_of, value_of
from ragcore.refine.spoken import code_of
from ragcore.terms import Kind, is_stop_word, language_of, terms

LONGEST = 600
"""Characters of a wording at most, ..."""
LONGER = 4
"""... at most so many times those of the question, ..."""
ROOM = 200
"""... and so many more: a name and a title take as many."""
LONGEST_KEYWORD = 60
"""Characters of a keyword at most."""
KEPT = 1 / 3
"""Share of the telling words of a question that its wording keeps at least, ..."""
FEW = 3
"""... where there are at least so many of them: "and yesterday?" keeps none."""
STRANGE = 1 / 2
"""Share of the words of a wording that stand neither in the question nor in the conversation, at most."""
ECHO = 40
"""So many characters in a row of the prompt in a wording are no chance."""

_UNSAFE = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://\S+|www\.\S+|\b(?:mailto|tel|javascript|data):\S+|[\w.+-]+@[\w-]+\.\w+"
    r"|<[@!#/a-z][^>]*>?|@\w[\w.-]*|\]\([^)]*\)?|\[\w+\s*:\s*\d+\]|[{}`\\|]",
    re.IGNORECASE,
)
"""What could become a link, a mention, markup or a marker: a wording has only what the question has of these."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_LEADING = re.compile(r"^0+(?=\d)")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_ASKS = ("?", "？", "؟", "⁇", "՞", ";")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a model was asked to put in other words, and by which rules.

    ``said`` is the conversation as it was shown. ``alone``: in words that stand alone, too. ``languages`` are the names
    of those to translate into, in order.
    """

    question: str
    said: str = ""
    rules: str = ""
    alone: bool = False
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Worded:
    """The question in words that stand alone, "" where there are none, and translations, in the order asked for."""

    alone: str = ""
    translations: tuple[str, ...] = ()


def worded_of(reply: str, asked: Asked) -> Worded:
    """Return what a reply says that can be used; nothing of one that can't."""
    try:
        said = value_of(reply, waited_for=True)
    except ModelBadOutput:
        said = None
    if not isinstance(said, Mapping):
        # Small models write the sentence alone, where nothing but a sentence is asked for.
        said = {"question": reply.strip()} if asked.alone and not asked.languages and said is None else {}
    alone = cleaned(said.get("question")) if asked.alone else ""
    if not (alone and _is_wording(alone, asked)):
        alone = ""
    return Worded(alone=alone, translations=_translations(said.get("translations"), asked, alone))


def _translations(translated: object, asked: Asked, alone: str) -> tuple[str, ...]:
    """Return the translations by language that can be used, each once, in the order asked for."""
    if not isinstance(translated, Mapping):
        return ()
    by_name = {str(name).strip().casefold(): text for name, text in translated.items()}
    found: dict[str, str] = {}
    for language in asked.languages:
        text = cleaned(by_name.get(language.casefold(), by_name.get(code_of(language))))
        if text and _is_translation(text, language, asked, alone):
            found.setdefault(text.casefold(), text)
    for same in (asked.question, alone):
        found.pop(" ".join(same.split()).casefold(), None)
    return tuple(found.values())


def translations_of(
    reply: str, questions: Sequence[str], languages: Sequence[str], rules: str = ""
) -> tuple[tuple[str, ...], ...]:
    """Return what a reply gives as translations of each of several questions, in their order, as far as it can be used.

    Args:
        reply: A JSON object with a question's number, from 1, and its translations by language; or a list of these.
        questions: As the model was shown them.
        languages: The names of those to translate into, in order.
        rules: By which the model was asked.
    """
    try:
        said = value_of(reply, waited_for=True)
    except ModelBadOutput:
        said = None
    if isinstance(said, list):
        said = {str(number): of for number, of in enumerate(said, start=1)}
    if not isinstance(said, Mapping):
        said = {}
    found: list[tuple[str, ...]] = []
    for number, question in enumerate(questions, start=1):
        of = said.get(str(number))
        if isinstance(of, str) and len(languages) == 1:
            of = {languages[0]: of}  # small models leave out what is the same everywhere
        asked = Asked(question=question, rules=rules, languages=tuple(languages))
        found.append(_translations(of, asked, ""))
    return tuple(found)


def keywords_of(reply: str, question: str, most: int) -> tuple[str, ...]:
    """Return the keywords that a reply lists, at most so many, of which each says something that the question doesn't.

    Numbers that the question lacks are an answer, or a guess of one.
    """
    try:
        said: Sequence[object] = list_of(reply, "keywords", waited_for=True)
    except ModelBadOutput:
        return ()
    own, numbers = telling(question), _numbers(question)
    found: dict[str, str] = {}
    for one in said:
        text = cleaned(one)
        if not text or len(text) > LONGEST_KEYWORD or not is_safe(text, question) or _numbers(text) - numbers:
            continue
        if telling(text) - own:
            found.setdefault(text.casefold(), text)
    return tuple(found.values())[:most]


def cleaned(said: object) -> str:
    """Return a text on one line, without the quotes around all of it; "" of what is none, or shows nothing."""
    if not isinstance(said, str) or len(said) > 2 * LONGEST:
        return ""
    text = " ".join(said.split())
    if len(text) > 1 and text[0] in "\"“'" and text[-1] in "\"”'" and not set("\"“”'") & set(text[1:-1]):
        text = text[1:-1].strip()
    return text if text.isprintable() and any(one.isalnum() for one in text) else ""


def _is_wording(text: str, asked: Asked) -> bool:
    """Tell whether a text is the question in other words, as far as its words tell."""
    question = " ".join(asked.question.split())
    if text.casefold() == question.casefold() or not _fits(text, asked):
        return False
    if question.endswith(_ASKS) and not text.endswith(_ASKS):
        return False  # an answer, or a remark
    own, said, written = telling(question), telling(asked.said), telling(text)
    if len(own) >= FEW and len(own & written) < KEPT * len(own):
        return False
    strange = {word for word in written - own - said if not word[0].isdigit()}  # numbers are looked at by themselves
    if len(strange) > max(2, STRANGE * len(written)):
        return False
    return all(_is_date(number, text) for number in _numbers(text) - _numbers(f"{question}\n{asked.said}"))


def _is_translation(text: str, language: str, asked: Asked, alone: str) -> bool:
    """Tell whether a text may be the question in another language."""
    if not _fits(text, asked, alone) or _numbers(text) - _numbers(f"{asked.question}\n{alone}"):
        return False
    code = code_of(language)
    if not code:
        return True
    script, wanted = language_of(text), "en" if code in SMALL_WORDS else code
    if script != wanted and {script, wanted} != {"zh", "ja"}:
        return False
    told = told_by_itself(text)
    return not told or told == code or told != told_by_itself(asked.question)


def _fits(text: str, asked: Asked, alone: str = "") -> bool:
    """Tell whether a text is no longer than the question in other words can be, safe, and not the prompt."""
    longest = min(LONGEST, LONGER * max(len(asked.question), len(alone)) + ROOM)
    echoes = any(text[at : at + ECHO] in asked.rules for at in range(len(text) - ECHO + 1))
    return len(text) <= longest and is_safe(text, asked.question) and not echoes


def is_safe(text: str, question: str) -> bool:
    """Tell whether a text has no link, mention or markup but those of the question."""
    own = question.casefold()
    return all(found[0].casefold() in own for found in _UNSAFE.finditer(text))


def _is_date(number: str, text: str) -> bool:
    """Tell whether a number that nobody said may be (of) a date that was told from now: a year, or beside one."""
    parts = re.split(r"\D", number)
    return bool(_YEAR.search(text)) and all(
        _YEAR.fullmatch(part) or (len(part) <= 2 and int(part) <= 31) for part in parts
    )


def _numbers(text: str) -> set[str]:
    """Return the numbers of a text, in whatever digits."""
    return {_LEADING.sub("", number) for number in _NUMBER.findall(unicodedata.normalize("NFKC", text))}


def telling(text: str) -> set[str]:
    """Return the words of a text that say something, in their normal form."""
    return {term.text for term in terms(text) if term.kind is not Kind.CHARACTER and not is_stop_word(term)}
