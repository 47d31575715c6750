"""The tables of models: language, embedding, reranking."""

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from bots.settings.model.values import FROZEN, OPENAI_URL, HttpUrl, JsonTable, OptionalUrl, Secret, Section


class TaskSettings(Section):
    """What one task of the language model does differently from `[llm]`.

    The tasks are `answer`, `cite` (the markers of an answer), `vision` (pictures in words), `rewrite` (a question
    in other words, in other languages, and keywords of it), `filter` (a filter drawn from the question), `contents`
    (which sections of the documents found fit the question), `rerank`, `research` (the steps of a research before its
    answer), `summarise` (what was said in a chat), `check` (`citebot doctor`) and `enrich`: all that is asked about
    documents, be it for keywords, questions, tags, tables of contents, metadata, summaries or the knowledge graph.
    """

    model: str | None = Field(default=None, description="another model for this task")
    temperature: float | None = Field(default=None, ge=0, le=2, description="another temperature for this task")
    max_tokens: int | None = Field(default=None, gt=0, description="another limit of this task's output, in tokens")
    extra_body: JsonTable | None = Field(default=None, repr=False, description="another `extra_body` for this task")


class LLMSettings(Section):
    """The language model: any OpenAI-compatible chat completions endpoint.

    Left out, answers are the best-supported sentences of the documents, quoted.
    """

    base_url: HttpUrl = Field(
        default=OPENAI_URL, description="address of the endpoint, up to and with its version (`/v1`)"
    )
    model: Annotated[str, StringConstraints(min_length=1)] = Field(description="the model's name at that endpoint")
    api_key: Secret | None = Field(default=None, description="the endpoint's key; local servers need none")
    context_window: int | None = Field(
        default=None,
        ge=1024,
        description="how many tokens the model reads and writes together; default: what is known of it",
    )
    max_tokens: int | None = Field(default=None, gt=0, description="the longest answer, in tokens")
    temperature: float | None = Field(default=None, ge=0, le=2, description="how freely the model words its answers")
    extra_body: JsonTable = Field(
        default_factory=dict,
        repr=False,
        description="further fields of the request, such as those that turn thinking off",
    )
    vision_model: str = Field(
        default="",
        description="a model at that endpoint that reads pictures, perhaps the same one: it puts the pictures beside a "
        "question, and those among the documents (which a source takes where its `include` names them), into words; "
        "default: pictures are read by OCR alone, if at all",
    )
    connect_timeout: float | None = Field(default=None, gt=0, description="seconds until a connection must stand")
    first_token_timeout: float | None = Field(
        default=None,
        gt=0,
        description="seconds until the first token must come; an endpoint that is silent so long is asked once more",
    )
    total_timeout: float | None = Field(default=None, gt=0, description="seconds until an answer must be complete")
    max_concurrent: int | None = Field(default=None, gt=0, description="how many calls may run side by side")
    tasks: Annotated[dict[str, TaskSettings], *FROZEN] = Field(
        default_factory=dict, description="one table a task to override, such as `[llm.tasks.cite]`"
    )


class EmbeddingSettings(Section):
    """The model that turns texts into vectors. Another one needs `citebot sync --full` once."""

    provider: Literal["minilm", "openai"] = Field(
        default="minilm",
        description="`minilm` is built in and needs no network; `openai` is any OpenAI-compatible endpoint",
    )
    base_url: HttpUrl = Field(default=OPENAI_URL, description="address of the endpoint, for `openai`")
    model: str = Field(default="", description="the model's name at that endpoint; `openai` needs it")
    api_key: Secret | None = Field(default=None, description="the endpoint's key")
    batch_size: int | None = Field(default=None, gt=0, description="how many texts one request holds")
    dimension: int | None = Field(
        default=None, gt=0, description="shorter vectors, where the model can give them; default: the model's own"
    )
    max_tokens: int | None = Field(
        default=None, gt=0, description="tokens of one text that the model reads; longer ones are embedded in windows"
    )

    @model_validator(mode="after")
    def _model_is_named(self) -> Self:
        if self.provider == "openai" and not self.model:
            raise ValueError('model is missing: provider = "openai" needs it, such as "text-embedding-3-small"')
        return self


class RerankSettings(Section):
    """What puts the chunks that are relevant in a better order before an answer; left out, their relevance does.

    It drops nothing unless `threshold` is set. When it fails or is late, the order of the search stands.
    """

    provider: Literal["jina", "cohere", "tei", "llm", "similarity"] = Field(
        default="jina",
        description="`jina` and `cohere` are any `/rerank` endpoint of that form (vLLM, llama.cpp, Infinity, LiteLLM), "
        "`tei` is Hugging Face's; with `llm` the model of `[llm]` sorts the chunks (`[llm.tasks.rerank]` for another "
        "one); `similarity` compares weighted words and meaning, without a model of its own",
    )
    base_url: OptionalUrl = Field(
        default="", description="address of the endpoint, without `/rerank`; `jina`, `cohere` and `tei` need it"
    )
    model: str = Field(default="", description="the model's name at that endpoint; `jina` and `cohere` need it")
    api_key: Secret | None = Field(default=None, description="the endpoint's key; local servers need none")
    extra_body: JsonTable = Field(default_factory=dict, repr=False, description="further fields of the request")
    candidates: int | None = Field(
        default=None, ge=2, le=200, description="how many of the relevant chunks are read for an order; default: 24"
    )
    timeout: float | None = Field(
        default=None,
        gt=0,
        le=60,
        description="seconds until the order must be there, else that of the search stands; default: 1.5, for `llm` 5; "
        "`similarity` waits for nobody and takes none",
    )
    threshold: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="the least score of an endpoint that a chunk must have; default: none, nothing is dropped",
    )

    @property
    def asks_endpoint(self) -> bool:
        """Return whether a `/rerank` endpoint is asked."""
        return self.provider in {"jina", "cohere", "tei"}

    @property
    def _instead(self) -> str:
        if self.provider == "llm":
            return "asks the model of [llm]: leave it out; another model and its options stand in [llm.tasks.rerank]"
        return "asks no model: leave it out"

    @model_validator(mode="after")
    def _endpoint_is_named(self) -> Self:
        if self.asks_endpoint and not self.base_url:
            raise ValueError(f'base_url is missing: provider = "{self.provider}" needs the address of its endpoint')
        if self.provider in {"jina", "cohere"} and not self.model:
            raise ValueError(f'model is missing: provider = "{self.provider}" needs the name of a reranking model')
        for name in () if self.asks_endpoint else ("base_url", "model", "api_key", "extra_body"):
            if getattr(self, name):
                raise ValueError(f'{name} is for a /rerank endpoint, and provider = "{self.provider}" {self._instead}')
        if self.timeout and self.provider == "similarity":
            raise ValueError('timeout is for what is waited for, and provider = "similarity" asks nobody: leave it out')
        if self.threshold and not self.asks_endpoint:
            raise ValueError(f'threshold needs scores, and provider = "{self.provider}" gives none: leave it out')
        return self
