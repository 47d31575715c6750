"""The table of answers."""

from typing import Literal

from pydantic import Field

from bots.settings.model.values import FilePath, Name, Section


class AnswerSettings(Section):
    """How questions are searched and answered."""

    top_k: int | None = Field(default=None, gt=0, description="how many candidates each search brings in")
    top_n: int | None = Field(default=None, gt=0, description="how many chunks the answer may rest on")
    similarity_threshold: float | None = Field(
        default=None, ge=0, le=1, description="the least relevance a chunk must have"
    )
    vector_similarity_weight: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="share of the meaning against the words in the ranking; less by itself where the embedder does not "
        "know the language",
    )
    empty_response: str = Field(
        default="", description="what to say when nothing relevant is found; default: in the asker's language"
    )
    unsupported: Literal["mark", "withhold"] = Field(
        default="mark",
        description="what happens to an answer that no document supports: shown marked as such, or withheld",
    )
    link_hosts: tuple[str, ...] = Field(
        default=(), description="hosts besides the sources' own that answers may link to"
    )
    history_days: float = Field(default=30, ge=0, description="how long a conversation is remembered, in days")
    cache_seconds: float = Field(
        default=3_600,
        ge=0,
        description="how long a cited answer is kept for who asks the same of the same documents, in seconds: no model "
        "is asked again, unless a document of the knowledge bases changed meanwhile; 0 keeps none, and neither does "
        "`history_days = 0`",
    )
    quote: bool = Field(default=True, description="whether answers carry citations")
    citation_plus: bool = Field(default=False, description="a second call of the model that only adds citations")
    refine_multiturn: bool = Field(
        default=True,
        description="let the model put a question that leans on the conversation into words that stand alone, which "
        "are searched in its place; one that stands alone asks no model",
    )
    cross_languages: tuple[Name, ...] = Field(
        default=("auto",),
        description="languages that the model translates the question into, to search in them too, such as "
        '`["English", "Chinese"]`; `auto` stands for those of each knowledge base that holds nothing in its own, '
        "`all` for all that they hold, and `[]` is none",
    )
    keyword: bool = Field(
        default=False, description="let the model name words that are searched for besides those of the question"
    )
    refine_seconds: float = Field(
        default=3.0,
        gt=0,
        description="how long other words, translations, keywords and a drawn filter may take together before the "
        "search; what is late is left out of it",
    )
    plain_chat: bool = Field(
        default=False,
        description="where no knowledge base is set up at all, let the model answer by itself, marked as such",
    )
    related_questions: int = Field(
        default=3,
        ge=0,
        le=5,
        description="how many questions to go on with an answer offers as buttons: those that `auto_questions` wrote "
        "for the passages found, and headings that ask; no call of the model; 0: none",
    )
    toc_enhance: bool = Field(
        default=False,
        description="add the sections that fit the question by the tables of contents of the best documents; the model "
        "chooses them, or without one the words of their titles",
    )
    toc_seconds: float = Field(
        default=4.0,
        gt=0,
        description="how long choosing these sections may take (`toc_enhance`); after that the answer goes on without",
    )
    use_kg: bool = Field(
        default=False,
        description="add what the knowledge graph says of the things that the question names, and the passages that "
        "tell it (`graph` of a knowledge base); no call of the model",
    )
    filter_seconds: float = Field(
        default=3.0,
        gt=0,
        description="how long the model may take to draw a filter from the question (`metadata_filter`), within "
        "`refine_seconds`; after that the search goes on without",
    )
    language: str = Field(
        default="", description="language of the fixed sentences, such as `en` or `zh`; default: the asker's"
    )
    synonyms: FilePath | None = Field(
        default=None, description="a file of synonyms, one line a group, separated by commas"
    )
