"""A filter drawn from the question by a model, for knowledge bases that ask for one: before the search, and in time.

It only ever narrows: what readers, named documents and other filters leave is all that it chooses from, and all that
the model is shown values of. Where the model fails or is late the search goes on without it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import MappingProxyType

from ragcore.context import default_budget, fit_prompt
from ragcore.errors import ContextTooSmall, ModelError
from ragcore.filter_grammar import print_filter
from ragcore.filters import SHOWN, Filter, KnownField, Operator
from ragcore.models.llm import ChatModel
from ragcore.prompts import OWN, Prompts
from ragcore.retrieval.filter_reply import field_lines, filter_of
from ragcore.retrieval.retriever import Retrieved, Retrieving
from ragcore.stores.document_values import DocumentValues
from ragcore.stores.indexes import Permitted
from ragcore.stores.registry import Registry
from ragcore.tokens import Tokenizer
from ragcore.trace import degraded
from ragcore.types import Message, Question, Usage

log = logging.getLogger(__name__)

TASK = "filter"
MOST_FIELDS = 24
"""Fields that the model is shown, of all that there are."""
TELL_APART_NOTHING = frozenset({"title", "name"})
"""Fields that are not offered unless the settings name them: each document has its own, and the search reads titles."""

_LATE = "searching without a filter from the question: none came within %.3g s"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drawn:
    """What came of asking: a filter, if the question asks for one, where it can be asked for, and what that took."""

    filter: Filter | None = None
    where: tuple[str, ...] = ()
    usage: Usage = Usage()


class FilteringRetriever:
    """A retriever that first lets a model draw a filter from the question. Safe to share between conversations."""

    def __init__(
        self,
        retriever: Retrieving,
        *,
        registry: Registry,
        values: DocumentValues,
        model: ChatModel,
        tokenizer: Tokenizer,
        fields: Mapping[str, tuple[str, ...]],
        seconds: float,
        prompts: Prompts = OWN,
        homes: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Compose.

        Args:
            retriever: searches.
            registry: knows what is open to whom.
            values: what is known of documents.
            model: draws the filter.
            tokenizer: counts the prompt.
            fields: the knowledge bases for which a filter is drawn, each with the fields that it may ask for; none
                named: all that there are.
            seconds: how long drawing a filter may take, the look at what is known of documents with it.
            prompts: the templates.
            homes: the knowledge base of each source, as for the retriever.
        """
        self._retriever = retriever
        self._registry = registry
        self._values = values
        self._model = model
        self._tokenizer = tokenizer
        self._fields = fields
        self._seconds = seconds
        self._prompts = prompts
        self._homes = homes

    async def retrieve(self, question: Question) -> Retrieved:
        """Return the relevant chunks; see ``Retriever.retrieve``."""
        drawn = await self._drawn(question, self._seconds)
        return _with(await self._searched(question, drawn), drawn.usage)

    async def ahead(self, question: Question, seconds: float) -> tuple[Retrieving, Usage]:
        """Draw the filter now, and return what searches by it, and what drawing took.

        For who has something else to do with the question meanwhile, or has so many seconds left for it.
        """
        drawn = await self._drawn(question, min(seconds, self._seconds))
        return _ByFilter(lambda asked: self._searched(asked, drawn)), drawn.usage

    async def _searched(self, question: Question, drawn: _Drawn) -> Retrieved:
        """Search by what was drawn; without it where it leaves nothing."""
        where = drawn.where
        if drawn.filter is None or not where:
            return await self._retriever.retrieve(question)
        own = {name: question.filters.get(name, ()) for name in where}
        narrowed = replace(
            question, filters={**question.filters, **{name: (*own[name], drawn.filter) for name in where}}
        )
        if await self._finds(narrowed, where):
            log.info("searching by the filter %s", print_filter(drawn.filter))
            return await self._retriever.retrieve(narrowed)
        found = await self._retriever.retrieve(question)
        if "filter_without_match" in found.notes:
            return found
        return replace(found, notes=(*found.notes, "filter_dropped"))

    async def _drawn(self, question: Question, seconds: float) -> _Drawn:
        """Let the model draw a filter from what may be looked at; nothing is drawn when that is late."""
        names = [name for name in question.knowledge_bases if name in self._fields]
        if not names or not any(one.isalnum() for one in question.text):
            return _Drawn()
        due = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(due):
                permitted = await self._registry.permitted(names, question.readers)
                known = {name: await self._known(name, question, permitted.get(name)) for name in names}
        except TimeoutError:
            log.warning(_LATE, seconds)
            degraded("searched without a filter from the question: none came in time")
            return _Drawn()
        shown = _merged(known.values())
        drawn = await self._draw(question, shown, due) if shown else _Drawn()
        if drawn.filter is None:
            return drawn
        asked = drawn.filter.fields
        return replace(drawn, where=tuple(name for name in names if asked <= {one.name for one in known[name]}))

    async def _known(self, name: str, question: Question, only: Permitted | None) -> list[KnownField]:
        """Return the fields that may be asked for, with values of what the question may look at."""
        named = self._fields[name]
        known = await self._values.fields(
            name,
            only,
            named,
            MOST_FIELDS + len(TELL_APART_NOTHING),
            filters=question.filters.get(name, ()),
            document_ids=question.document_ids,
            homes=self._homes,
        )
        return [one for one in known if named or one.name not in TELL_APART_NOTHING][:MOST_FIELDS]

    async def _finds(self, question: Question, names: Sequence[str]) -> bool:
        """Return whether any document meets the filters, of what the question may look at."""
        permitted = await self._registry.permitted(names, question.readers)
        for name in names:
            only, ids = permitted.get(name), question.document_ids
            if (await self._values.matching(name, question.filters[name], only, ids, self._homes)).count:
                return True
        return False

    async def _draw(self, question: Question, fields: Sequence[KnownField], due: float) -> _Drawn:
        """Ask the model until then; nothing is drawn when it is late, fails or says nothing that can be used."""
        spent, left = Usage(), due - asyncio.get_running_loop().time()
        system = self._prompts.render(
            "metadata_filter",
            fields=field_lines(fields),
            operators=", ".join(f'"{operator}"' for operator in Operator),
            today=datetime.now(UTC).date().isoformat(),
        )
        try:
            async with asyncio.timeout_at(due):
                fitted = await asyncio.to_thread(
                    fit_prompt,
                    [Message(role="system", text=system), Message(role="user", text=question.asked)],
                    default_budget(self._model.context_window),
                    reserve=self._model.max_tokens,
                    tokenizer=self._tokenizer,
                )
                # A call that is broken off tells nothing of what it took; it has read its prompt.
                spent = Usage(calls=1, prompt_tokens=fitted.count)
                reply, spent = await self._model.complete(fitted.messages, task=TASK)
                # In a thread: what a model wrote that lost its way takes long to mend.
                drawn = await asyncio.to_thread(filter_of, reply, [field.name for field in fields])
        except TimeoutError:
            log.warning(_LATE, left)
            degraded("searched without a filter from the question: none came in time")
            return _Drawn(usage=spent)
        except (ModelError, ContextTooSmall) as error:
            log.warning("searching without a filter from the question: %s: %s", type(error).__name__, error)
            degraded("searched without a filter from the question: drawing it failed")
            return _Drawn(usage=Usage(calls=spent.calls))
        return _Drawn(filter=drawn, usage=spent)


@dataclass(frozen=True, slots=True)
class _ByFilter:
    """A search for which a filter is drawn already."""

    search: Callable[[Question], Awaitable[Retrieved]]

    async def retrieve(self, question: Question) -> Retrieved:
        """Return the relevant chunks."""
        return await self.search(question)


def _merged(known: Iterable[Sequence[KnownField]]) -> list[KnownField]:
    """Return the fields of several knowledge bases, each once."""
    found: dict[str, KnownField] = {}
    for field in (field for fields in known for field in fields):
        before = found.get(field.name)
        found[field.name] = field if before is None else before.beside(field, SHOWN)
    return list(found.values())[:MOST_FIELDS]


def _with(found: Retrieved, usage: Usage) -> Retrieved:
    """Add what drawing the filter took."""
    return replace(found, usage=found.usage + usage)
