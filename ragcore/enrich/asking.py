"""Asks the model, each thing once: what it wrote is kept by all that it was asked with."""

import asyncio
import contextlib
import copy
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from ragcore.context import default_budget, fit_prompt, prompt_tokens
from ragcore.enrich.reasons import REFUSED_CONTENT, TOO_LONG, noted
from ragcore.enrich.rubbish import kind_of
from ragcore.errors import (
    ModelAuthError,
    ModelBadOutput,
    ModelContextTooLong,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnreachable,
)
from ragcore.models.llm import ChatModel
from ragcore.prompts import Prompts
from ragcore.rules_back import without_rules
from ragcore.stores.model_results import REFUSED, UNANSWERED, ModelResult, ModelResults, Use
from ragcore.stores.rows import digest
from ragcore.stores.waiting import uninterrupted
from ragcore.tokens import Tokenizer
from ragcore.types import Image, Message, Usage

TASK = "enrich"
"""What the model is asked for, as far as its options go."""
AT_ONCE = 4
"""Calls under way together: answers share the endpoint."""
MOST_ATTEMPTS = 3
"""How often the same is asked of a model that answers something else, over all runs; then it is done without."""

AGAIN = "; it is asked again at the next sync"
"""How the reason ends where that is so."""
NOTED_TOGETHER = 200
"""Results that were used again, and are noted as that together."""

# What was asked about is not to blame, so asking about the next thing makes no sense.
FATAL = (ModelUnreachable, ModelAuthError, ModelRateLimited)

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a model is asked: a template with its inputs, and a text, or pictures, that are its material."""

    template: str
    inputs: Mapping[str, object] = field(default_factory=dict)
    text: str = ""
    images: tuple[Image, ...] = ()


@dataclass(slots=True)
class Spent:
    """What was asked since the beginning: ``cached`` results cost nothing, ``usage`` is what the calls took."""

    usage: Usage = Usage()
    cached: int = 0


class Asker:
    """A model, what it wrote before, and how many calls it takes at once."""

    def __init__(
        self,
        *,
        model: ChatModel,
        identity: str,
        results: ModelResults,
        prompts: Prompts,
        tokenizer: Tokenizer,
        places: asyncio.Semaphore | None = None,
        task: str = TASK,
        attempts: int = MOST_ATTEMPTS,
    ) -> None:
        """Compose.

        Args:
            model: Asked under the task.
            identity: Its name with its options for that task: whatever may change what it writes.
            results: What it wrote before.
            prompts: The templates.
            tokenizer: Counts.
            places: How many calls may be under way together, also of other askers; None: ``AT_ONCE``.
            task: What the model is asked for, as far as its options go.
            attempts: How often the same is asked, over all runs, where what it writes can't be used.
        """
        self.model = model
        self.identity = identity
        self.prompts = prompts
        self.tokenizer = tokenizer
        self.spent = Spent()
        self._results = results
        self._places = places or asyncio.Semaphore(AT_ONCE)
        self._task = task
        self._use = Use(purpose=task)
        self._used: list[str] = []
        self._most_attempts = attempts
        self._under_way: dict[str, tuple[asyncio.Lock, int]] = {}

    def apart(self) -> "Asker":
        """Return another that has spent nothing yet, and shares all else with this one."""
        other = copy.copy(self)
        other.spent = Spent()
        other._used = []
        return other

    def on_behalf(self, owner: str) -> "Asker":
        """Return another that asks for a document, or for what ``of_all`` names, and shares all else with this one.

        What it is told is kept while its owner rests on it. ``note`` is to be called at its end.
        """
        other = copy.copy(self)
        other._use, other._used = Use(owner=owner, purpose=self._task), []
        return other

    async def note(self) -> None:
        """Note which results were used again."""
        used, self._used[:] = list(self._used), []
        if used:
            await uninterrupted(self._results.used(used, self._use))

    async def release(self, owners: Sequence[str], before: datetime, *, is_lacking: bool = False) -> None:
        """Note that these owners have become what they are without what they used before this time alone.

        Or only without what they lacked then, and were not found to lack since.
        """
        await self._results.release(owners, self._task, before, is_lacking=is_lacking)

    async def release_due(self, before: datetime) -> None:
        """Note that whoever it is asked for lacks nothing more that was last asked for before this time."""
        await self._results.release_due(self._use.owner, self._task, before, attempts=self._most_attempts)

    async def lack(self, template: str, reason: str, *, about: str = "") -> None:
        """Keep why something is lacking that could not even be asked for; ``about`` tells it from others of its kind.

        In place of what was kept of it before, until it is released.
        """
        await uninterrupted(self._lacked(template, digest("lacking", self._use.owner, template, about), 0, reason))

    def key_of(self, call: Call) -> str:
        """Return the digest of all that decides what the model writes."""
        seen = [part for image in call.images for part in (image.media_type, image.data)]
        return digest(call.template, self.identity, self._system(call), call.text, *seen)

    def tokens_of(self, call: Call) -> int:
        """Return how many tokens the prompt of a call takes."""
        return prompt_tokens(self._messages(call), self.tokenizer)

    async def known(self, keys: Sequence[str]) -> set[str]:
        """Return those of the keys that the model isn't asked about any more."""
        return await self._results.known(keys, attempts=self._most_attempts)

    async def ask(self, call: Call, read: Callable[[str], T]) -> T | None:
        """Return what the model wrote, read by ``read``; None where it has never written anything of use.

        Raises:
            ModelError: The model can't be reached, or what it wrote can't be used: it may be asked again, unless it has
                been often enough. Or its endpoint refuses this content, which is told once: from then on it is None.
            ContextTooSmall: The template does not fit into its window.
        """
        key = self.key_of(call)
        # Of equal chunks that are asked about at the same time, the others find what the first was told.
        async with self._asking(key), self._places:
            before = await self._results.get(key)
            attempts = 0 if before is None else max(0, before.attempts)
            if before is not None and (before.text or before.is_refused or attempts >= self._most_attempts):
                # What was kept may be of no use to a later version's reader: then it counts as an attempt.
                with contextlib.suppress(ModelBadOutput):
                    found = self._read(call, before.text, read) if before.text else None
                    self.spent.cached += 1
                    self._used.append(key)
                    if len(self._used) >= NOTED_TOGETHER:
                        await self.note()
                    return found
            try:
                text, usage, was_cut = await self._asked(call)
            except ModelRefused as refused:
                await uninterrupted(self._refused(call, key))
                raise ModelRefused(f"{refused}; this is not asked again of the model as it is set up") from refused
            except FATAL:
                raise
            except ModelError as error:
                is_long = isinstance(error, ModelContextTooLong)
                reason = f"{TOO_LONG} ({error})" if is_long else str(error)
                await uninterrupted(self._lacked(call.template, key, attempts, reason))
                raise
            # What is written is paid for: whoever stops now finds it the next time.
            return await uninterrupted(self._kept(call, key, attempts + 1, text, usage, read, was_cut=was_cut))

    async def recalled(self, call: Call, read: Callable[[str], T]) -> T | None:
        """Return what the model wrote before, read by ``read``; None where it was never asked, or wrote nothing of use.

        It is not asked now.
        """
        before = await self._results.get(self.key_of(call))
        if before is None or not before.text:
            return None
        with contextlib.suppress(ModelBadOutput):
            return self._read(call, before.text, read)
        return None

    @contextlib.asynccontextmanager
    async def _asking(self, key: str) -> AsyncGenerator[None]:
        """Let nobody else ask the same while the context lasts."""
        lock, waiting = self._under_way.get(key, (asyncio.Lock(), 0))
        self._under_way[key] = (lock, waiting + 1)
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._under_way.pop(key)
            if waiting > 1:
                self._under_way[key] = (lock, waiting - 1)

    async def _kept(
        self,
        call: Call,
        key: str,
        attempts: int,
        text: str,
        usage: Usage,
        read: Callable[[str], T],
        *,
        was_cut: bool,
    ) -> T | None:
        """Read what the model wrote, and keep it."""
        self.spent.usage += usage
        found: T | None = None
        why = ""
        try:
            found = await asyncio.to_thread(self._read, call, text, read)
        except ModelBadOutput as error:
            why = kind_of(text, self._system(call), str(error), was_cut=was_cut)
        result = replace(self._nothing(call.template, key, attempts, noted(why)), usage=usage)
        await self._results.put(result if found is None else replace(result, text=text), self._use)
        if found is None and attempts < self._most_attempts:
            raise ModelBadOutput(f"what the model wrote can't be used ({why}){AGAIN}", raw=text)
        return found

    def _read(self, call: Call, text: str, read: Callable[[str], T]) -> T:
        """Read what the model wrote of its own: what it gave back of the rules would be taken for the document's."""
        return read(without_rules(text, self._system(call)))

    async def _refused(self, call: Call, key: str) -> None:
        """Keep that the endpoint takes no such content: it would say so at each sync."""
        self.spent.usage += Usage(calls=1)
        await self._results.put(self._nothing(call.template, key, REFUSED, REFUSED_CONTENT), self._use)

    async def _lacked(self, template: str, key: str, attempts: int, reason: str) -> None:
        """Keep why nothing came back; what was written before counts as often as it did."""
        await self._results.put(self._nothing(template, key, attempts or UNANSWERED, noted(reason)), self._use)

    def _nothing(self, template: str, key: str, attempts: int, reason: str) -> ModelResult:
        return ModelResult(key=key, task=template, model=self.model.name, text="", attempts=attempts, reason=reason)

    async def _asked(self, call: Call) -> tuple[str, Usage, bool]:
        """Return what the model writes now, what that took, and whether it was cut at the limit of its length."""
        fitted = await asyncio.to_thread(
            fit_prompt,
            self._messages(call),
            default_budget(self.model.context_window),
            reserve=self.model.max_tokens,
            tokenizer=self.tokenizer,
        )
        try:
            text, usage = await self.model.complete(fitted.messages, task=self._task)
        except ModelBadOutput as cut:  # what stands before the limit may do
            written = self.tokenizer.count(cut.raw)
            return cut.raw, Usage(calls=1, prompt_tokens=fitted.count, completion_tokens=written), True
        return text, usage, False

    def _messages(self, call: Call) -> tuple[Message, Message]:
        return Message(role="system", text=self._system(call)), Message(role="user", text=call.text, images=call.images)

    def _system(self, call: Call) -> str:
        return self.prompts.render(call.template, **call.inputs)


async def together(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Return all results in order; the first failure ends the others."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
