"""Who does something: a question for a person, a company or a place is answered by a text that has one. Pure."""

import re
from collections.abc import Collection, Sequence

from ragcore.extractive.words import content

_WANTS_A_NAME = re.compile(
    r"^\W*(?:who (?:is|are|was|were|leads?|heads?)|which (?:company|firm|supplier|manufacturer|city|country))\b",
    re.IGNORECASE,
)
_WANTS_SOMEBODY = re.compile(
    r"^\W*(?:(?:by|to|from|with|for|of) )?who(?:m|se)?\b"
    r"(?! (?:can|could|may|might|is (?:allowed|entitled|eligible|exempt))\b)"
    r"|\bwho (?:do|does|should|must|has|have|will|shall)\b|谁",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[\w,:;–-] )(?:[^\W\d_]['’])?[^\W\d_]{2,}(?!\w)|@|[\u3400-\u9fff]{2,}")
_DENSE = re.compile("[\u3400-\u9fff]")
_WANTS_A_BODY = re.compile(r"^\W*which (?:company|firm|supplier|manufacturer)\b", re.IGNORECASE)
_LABEL = re.compile(r"(?:^|(?<=[–;] ))[^:;–]{1,60}:(?= )")
"""A column's name in a row that is read as a sentence."""
_NO_NAME = re.compile(
    r"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|January|February|March|April|May|June|July|August|September"
    r"|October|November|December|Christmas|Easter|Internet|English|German|Chinese|French|Spanish)\b"
)
_OCCUPATIONS = """
technician mechanic electrician physician accountant assistant attendant consultant architect chemist dentist pharmacist
receptionist therapist optician librarian secretary president chairman chairwoman chairperson representative clerk
cashier porter plumber carpenter painter gardener cleaner caretaker janitor courier postman postwoman messenger barber
hairdresser tailor waiter waitress cook chef nurse midwife surgeon vet lawyer solicitor notary judge referee coach
captain pilot crew steward stewardess warden headmaster headmistress principal dean professor deputy mayor minister
treasurer usher undertaker partner client supplier employee trainee intern apprentice colleague member guest candidate
applicant student pupil tenant neighbour parent grandparent mother father grandmother grandfather sibling relative aunt
uncle friend child children adult pensioner household people person patient passenger player goalkeeper
"""
_BODIES = """
staff everyone everybody anyone anybody someone somebody nobody you we they he she i team board committee council
assembly department office desk reception police company firm union operations finance hr sales marketing legal quality
extension portal agency bureau
"""
_HOLDERS = "|".join(f"{word}(?:e?s)?" for word in _OCCUPATIONS.split())
_SOMEBODY = re.compile(
    r"\b(?:(?:manag|own|lead|engine|found|buy|sell|work|custom|employ|supervis|teach|train|bak|butch|farm|driv|offic"
    r"|speak|hold|review|approv|report|organi[sz]|volunte|design|develop|advis|lectur|beekeep|housekeep)e?ers?"
    r"|(?:direct|administrat|coordinat|supervis|audit|inspect|contract|vend|auth|edit|visit|doct|translat|operat)ors?"
    r"|officers?|owners?|leaders?|(?:team|platform|group|shift|project|product) leads?|lead|heads?|chiefs?|boss"
    rf"|secretaries|no one|works council|it department|human resources|{_HOLDERS}|{'|'.join(_BODIES.split())})\b|@"
    r"|由|[\u3400-\u9fff](?:部|门|经理|主管|总监|人|员|工|事|组|会|老师|任|长|师|户|商|方|家)",
    re.IGNORECASE,
)
"""Persons, bodies and where they are reached; others are told by what they do, see ``_is_done_by``."""
_BY = re.compile(
    r"\bby (?:(?:the|an?|our|your|their|its|each|every) (?P<one>[^\W\d]\w*(?: \w+)?)|(?P<many>[a-z]{3,}s))\b",
    re.IGNORECASE,
)
_MEANS_AND_TIMES = """
second minute hour day night week month quarter year end start beginning time date deadline morning evening noon
first last next following latest means way post mail email letter phone telephone fax hand card cash cheque invoice
transfer form request car bus train days weeks months years hours minutes times others metres litres percent
get gets got getting being need needs want wants
"""
_NO_AGENT = frozenset(_MEANS_AND_TIMES.split())
"""What stands behind "by", or before a participle, and does nothing: by Friday, by post, gets written."""
_BESIDE = "must may can could will would shall should always usually also then only never to"
_BESIDE_VERB = frozenset(_BESIDE.split())
"""What may stand between who does something and what is done, besides adverbs."""
_BEHIND_NOUN = "of is are was were has have will can must may should by takes happens"
_NO_VERB_BEFORE = frozenset(_BEHIND_NOUN.split())
"""Before these what looks like a verb is a noun: "the annual review of the code"."""
_GERMAN_WHO = re.compile(r"^\W*wer\b(?!.*\b(?:ist|wird|werden|wurden?)\b)", re.IGNORECASE)
_GERMAN_PASSIVE = re.compile(
    r"\b(?:wird|werden|wurden?)\b.{0,200}?\b(?:\w{0,20}ge\w{2,20}(?:t|en)|\w{2,20}iert|[vb]er?\w{2,20}(?:t|en))\b",
    re.IGNORECASE,
)
_GERMAN_AGENT = re.compile(r"\b(?:von|vom|durch)\b|@", re.IGNORECASE)
"""German nouns have capitals as names have: only a passive without an agent surely names nobody."""
_AUXILIARY = frozenset(content("must does do did should will shall need needs has"))
_TOKEN = re.compile(r"[^\W\d_][\w'’-]*|\d+|[^\w\s]")


def names_nobody(question: str, text: str) -> bool:
    """Whether a question wants a person, a company or a place, and a text has none that the question lacks.

    "Who is ...?" and "which company ...?" want a name or who holds an office; "who packs the boxes?" is content with
    anybody, but not with when they are packed.
    """
    if _WANTS_A_NAME.search(question) and not _names(question, text):
        return True
    if _GERMAN_WHO.search(question):
        return bool(_GERMAN_PASSIVE.search(text)) and not _GERMAN_AGENT.search(text)
    if not _WANTS_SOMEBODY.search(question):
        return False
    return not (_names(question, text) or _somebody(question, text) or _is_done_by(question, text))


def _names(question: str, text: str) -> bool:
    plain = _NO_NAME.sub("", _LABEL.sub("", text))
    return any(name not in question and _is_name(name, question) for name in _NAME.findall(plain))


def _is_name(word: str, question: str) -> bool:
    """Whether a word is written as a name, in any script; one of capitals alone is that of a company."""
    if not word[0].isupper():
        return word == "@" or bool(_DENSE.match(word))
    return not word.isupper() or bool(_WANTS_A_BODY.search(question))


def _somebody(question: str, text: str) -> bool:
    asked = question.lower()
    return any(found[0].lower() not in asked for found in _SOMEBODY.finditer(text))


def _is_done_by(question: str, text: str) -> bool:
    """Whether a text has a doer, whoever it is: before what the question says is done, or behind "by".

    "The tuner locks the piano" and "it is locked by the tuner" have one, "it is locked by noon" doesn't.
    """
    asked = content(question)
    by = (found["one"] or found["many"] for found in _BY.finditer(text))
    if any(_NO_AGENT.isdisjoint(words.lower().split()) and not content(words).keys() <= asked.keys() for words in by):
        return True
    done = next((term for term in asked if term not in _AUXILIARY), None)
    plain = _NO_NAME.sub("", _LABEL.sub("", text))
    tokens = [token.lower() for token in _TOKEN.findall(plain)]
    return any(
        done in content(token) and _acts(tokens[:i], tokens[i + 1 : i + 2], asked) for i, token in enumerate(tokens)
    )


def _acts(before: Sequence[str], after: Sequence[str], asked: Collection[str]) -> bool:
    """Whether a verb has a doer that the question lacks right ``before`` it, or it is no verb by the word ``after``."""
    if not _NO_VERB_BEFORE.isdisjoint(after):
        return False
    doer = next((word for word in reversed(before) if word not in _BESIDE_VERB and not word.endswith("ly")), "")
    said = content(doer).keys()
    return bool(said) and doer not in _NO_AGENT and not said <= set(asked)
