"""What is to be added to the chunks of a knowledge base by a model."""

from dataclasses import dataclass

from ragcore.errors import ConfigError

MOST_KEYWORDS = 30
MOST_QUESTIONS = 10
"""RAGFlow's own limits of the two settings; more of either buries the text that they stand for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichOptions:
    """The steps, all off by default.

    ``auto_keywords`` and ``auto_questions`` are how many of each a chunk gets at most, 0 for none, for one call of the
    model each. ``contents``: a document whose headings do not tell its sections gets a table of contents, for one call
    about 1,024 tokens.

    Raises:
        ConfigError: A value is out of its range.
    """

    auto_keywords: int = 0
    auto_questions: int = 0
    contents: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        for name, most in (("auto_keywords", MOST_KEYWORDS), ("auto_questions", MOST_QUESTIONS)):
            if not 0 <= getattr(self, name) <= most:
                raise ConfigError(f"{name} is {getattr(self, name)}, and must be from 0 to {most}")
