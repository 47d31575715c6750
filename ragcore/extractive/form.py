"""The form of a question: which ones, how to, how much of what. Pure."""

import re

from ragcore.terms import is_stop_word, terms

_HOW_TO = re.compile(
    r"\bhow (?:do|does|can|could|should|must|would|to)\b"
    r"|\bhow (?:is|are) (?:it|this|that|they|these) (?=done|made|\w+ed\b)"
    r"|\bwhat (?:do|should|must|shall) (?:i|we|you|one) do\b"
    r"|\bwhat happens\b|\bsteps?\b|\bprocedure\b|怎么|怎样|如何|步骤|流程",
    re.IGNORECASE,
)
_ANYTHING = re.compile(
    r"^\W*(?:what|who) (?:is|are|was|were)\W+(?:the |an? )?[\w.-]+\W*$|\bmeans?\b|\bmeaning of\b|\babout\b"
    r"|\bwhat (?:do|should|can|must|shall) (?:i|we|you|one) do\b|\bwhat (?:now|to do|next)\b"
    r"|怎么办|什么意思|是什么[？?]?$|含义",
    re.IGNORECASE,
)
_SELECTS = re.compile(
    r"\bwhich\b|\bwelche[nrs]?\b|\bquel(?:le)?s?\b|\bcuál(?:es)?\b|哪些|哪几|哪种|哪个", re.IGNORECASE
)
_WHETHER = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|can|may|must|should|shall|will|would|have|has|am"
    r"|ist|sind|war|hat|habe[nt]?|gibt|kann|können|darf|dürfen|muss|müssen|wird|werden"
    r"|y a-t-il|est-ce qu[e'’]|peut-on|hay|se puede)\b|[吗嗎][？?]?\W*$|有没有|是否|能否|可不可以|能不能",
    re.IGNORECASE,
)
_LISTS = re.compile(
    r"\b(?:what|which) (?:\w+ ){1,3}(?:are|is) there\b|\b(?:what|which) (?:kinds?|types?|sorts?) of\b"
    r"|\blist (?:of|all|the)\b"
    r"|\bwelche\w* (?:\w+ ){1,3}gibt es\b|\bquel(?:le)?s? (?:\w+ ){1,3}y a-t-il\b|有哪些|有哪几|有什么",
    re.IGNORECASE,
)
_NEXT_QUESTION = re.compile(
    r",? (?:and|und|et|y) (?=(?:which|what|when|where|who|whom|how|why|is|are|was|were|do|does|did|can|may|must"
    r"|wer|was|wann|wo|wie|warum|welche\w*)\b)|[，,](?=为什么|什么时候|何时|多少|怎么|谁|哪)",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:not|no|never|without|nicht|kein\w*|ohne|pas|sans|sin)\b|n['’]t\b|不|没|无需", re.IGNORECASE)
_CLAUSE = re.compile(
    r"(?<=\w )\b(?<!until )(?<!since )(?:before|after|when(?! (?:do|does|did|is|are|was|were|can|will|must|may)\b)"
    r"|while|during|if|unless|without|bevor|nachdem|wenn|falls|während|ohne|avant|après|pendant|antes|después|durante)\b"
    r"(?P<said>.*)",
    re.IGNORECASE | re.DOTALL,
)
_OPENING = re.compile(
    r"^\W*(?:while|before|until|although|because|since|bevor|während|obwohl|weil"
    r"|(?P<condition>when(?:ever)?|if|after|during|unless|once|as soon as|without|nachdem|wenn|falls|sobald|ohne))\b"
    r"[^,;:.]*,(?!\d)\s*",
    re.IGNORECASE,
)
_ASKS_HAS = re.compile(r"\b(?:does|do|did) (?:[\w'’-]+ ){1,5}(?:have|own|employ|consist of)\b", re.IGNORECASE)
_HAS = re.compile(
    r"^(?:the|our|your|an?|each|every)? ?(?P<owner>(?:[\w'’-]+ ){1,3})(?:has|have|had|owns?|employs?)\b", re.IGNORECASE
)


def is_how_to(question: str) -> bool:
    """Whether a question asks for what is done, or happens, one thing after the other."""
    return bool(_HOW_TO.search(question))


def takes_anything(question: str) -> bool:
    """Whether a question asks for whatever there is about the thing that it names."""
    return bool(_ANYTHING.search(question))


def selects(question: str) -> bool:
    """Whether a question asks which of several things are so."""
    return bool(_SELECTS.search(question))


def lists(question: str) -> bool:
    """Whether a question asks for all the things of a kind that there are."""
    return bool(_LISTS.search(question))


def questions(text: str) -> list[str]:
    """Return the questions that a question asks at once: "when is it, and why?" has two."""
    return _NEXT_QUESTION.split(text)


def action(question: str) -> str:
    """Return what follows "how do I", the action first; "" where the question isn't how to do a thing."""
    found = _HOW_TO.search(question)
    return question[found.end() :] if found else ""


def asks_whether(question: str) -> bool:
    """Whether a question asks if something is so, or there at all: what is only like it tells neither yes nor no."""
    return bool(_WHETHER.search(question))


def denies(question: str) -> bool:
    """Whether a question asks for what is not so."""
    return bool(_DENIES.search(question))


def circumstance(question: str) -> str:
    """Return the clause that tells when or under what condition something is asked, "" for none: *taking a week off*.

    Of "how much notice do I need before taking a week off?" it is what tells this notice from others.
    """
    found = _CLAUSE.search(question)
    return found["said"] if found else ""


def main_clause(sentence: str) -> str:
    """Return a sentence without the clause that it opens with: "while it is repaired, a loan meter is sent".

    What such a clause names is known to the reader already; the sentence says nothing of it.
    """
    return _OPENING.sub("", sentence)


def opens_with_condition(sentence: str) -> bool:
    """Whether the clause that a sentence opens with says for what its main clause holds: "if a card is lost, call"."""
    found = _OPENING.match(sentence)
    return found is not None and found["condition"] is not None


def is_of_another(question: str, text: str) -> bool:
    """Whether a question asks what one thing has, and a text opens with what another one does.

    "How many members does the cooperative have?" isn't told by "the board has five members".
    """
    asked, said = _ASKS_HAS.search(question), _HAS.match(text)
    if asked is None or said is None:
        return False
    owner = {term.text for term in terms(said["owner"]) if not is_stop_word(term)}
    return bool(owner) and owner.isdisjoint(term.text for term in terms(question))
