"""What an operator may decide about answers."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragcore.prompts import OWN, Prompts


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """How answers are written and shown; the settings' ``[answer]`` table.

    ``language`` is that of the fixed sentences, "" for the asker's. ``hosts`` are those whose addresses may become
    links when they stand in a retrieved chunk. ``prompts`` are the templates, and ``prompt_file`` is one that takes the
    place of ``answer_system``, with the same input. ``known_languages`` are those that the embedder can tell apart;
    None: all. ``plain_chat``: where there is no knowledge base to ask, the model answers by itself, marked as such.
    ``related_questions``: how many to go on with an answer offers at most.
    """

    empty_response: str = ""
    unsupported: Literal["mark", "withhold"] = "mark"
    language: str = ""
    quote: bool = True
    citation_plus: bool = False
    hosts: frozenset[str] = frozenset()
    prompt_file: Path | None = None
    known_languages: frozenset[str] | None = frozenset({"en"})
    plain_chat: bool = False
    related_questions: int = 3
    prompts: Prompts = OWN
