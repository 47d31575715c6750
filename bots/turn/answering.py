"""What a turn has to say: an answer, what a command shows, or a plain reason; never exception text."""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Generic

from bots.access import line_to_add, narrowest
from bots.ages import with_ages
from bots.counting import DocumentCount, by_document
from bots.given import with_given
from bots.platform import Button, Incoming, Platform, R
from bots.rendering.clean import clean_line
from bots.rendering.parse import parse_answer, parse_markdown
from bots.rendering.plain import plain_pieces
from bots.rendering.tree import Document
from bots.requests import Ask, Event, Explained, Forget, Recall, Recalled, Why
from bots.service import Backend
from bots.turn.attachments import Attached, FileReader
from bots.turn.beside import beside
from bots.turn.budget import TooSlow, within
from bots.turn.claims import Claims
from bots.turn.claims.claim import Outcome
from bots.turn.commands import Command, advised, command_of, help_document, listed, sentence, stands_alone
from bots.turn.faults import phrase_of
from bots.turn.gist.gists import READING, Gists
from bots.turn.notices import Notices
from bots.turn.options import TurnOptions, person
from bots.turn.people.offering import WITHHELD, offers_person
from bots.turn.quotes import answer_of
from bots.turn.receiving.order import Job
from bots.turn.receiving.researching import offers_research
from bots.turn.replying import Reply
from bots.turn.steps import StepsTaken
from bots.turn.syncing import Syncs
from bots.turn.threads import Threads
from bots.turn.written import Written
from bots.whose import Words
from bots.why import why_in_chat
from bots.words.gist import gist_word
from bots.words.sentences import Word, language_for, word
from ragcore.citations.markers import strip
from ragcore.errors import CitebotError, ContextTooSmall, ModelRateLimited, PlatformError, StoreError
from ragcore.phrases import Phrase, phrase
from ragcore.research import Progress
from ragcore.types import Answer, Delta, Status, Support

log = logging.getLogger(__name__)

_NAMED = 3
"""So many knowledge bases are named in a status."""
_STAGES: dict[str, Word] = {
    "rewrite": "reading",
    "look": "looking",
    "search": "searching",
    "write": "writing",
    "cite": "checking",
}
_OUTCOMES = {
    Support.CITED: Outcome.ANSWERED,
    Support.EXEMPT: Outcome.ANSWERED,
    Support.UNSUPPORTED: Outcome.UNSUPPORTED,
    Support.NEAREST: Outcome.ABSTAINED,
    Support.ABSTAINED: Outcome.ABSTAINED,
}
_ASKED_OTHERWISE: tuple[Phrase, ...] = ("model_failed", "model_refused")
"""Phrases that do not tell themselves what to do."""
_BESIDE_RESEARCH = 60.0
"""Seconds that reading attachments and checking the answer may take beside a research."""


class Writer(Generic[R]):
    """Writes what a turn has to say, showing it as it comes; shared by all turns of a platform."""

    def __init__(self, platform: Platform[R], backend: Backend, claims: Claims, options: TurnOptions) -> None:
        """Ask ``backend``, and ``platform`` for who reads, what a thread said, and attachments."""
        self._platform = platform
        self._backend = backend
        self._claims = claims
        self._threads = Threads(platform, claims, options)
        self._options = options
        self._notices = Notices()
        self._files = FileReader(platform, backend, options.files)
        self._syncs = Syncs(backend, options.sources)
        self._gists = Gists(platform, backend, claims, options)

    async def close(self) -> None:
        """End the process that reads attachments, and what was asked for to go on."""
        await self._syncs.close()
        await self._files.close()

    def language(self, job: Job) -> str:
        """Return the language of whoever asks."""
        return language_for(job.question, job.incoming.asker.language, self._options.language)

    def searching(self, job: Job) -> str:
        """Return the words that tell what is searched: the knowledge bases by name where they are few.

        Named are those that everybody may read who sees the reply, as far as the event tells.
        """
        language = self.language(job)
        if _summarises(_command_of(job)):
            return gist_word("reading", language)
        names = self._options.readable_in(job.incoming, job.incoming.seen_by)
        if 1 <= len(names) <= _NAMED:
            return word("searching_in", language, names=", ".join(names))
        return word("searching", language)

    async def write(self, job: Job, reply: Reply[R]) -> Written:
        """Return what is to be sent; a reason rather than an error, whatever the model or an index does."""
        language, budget = self.language(job), self._options.budget
        is_first = not self._notices.has_spoken(job.incoming.conversation)
        progress = _Progress(steps=StepsTaken(language), is_first=is_first)
        command = _command_of(job)

        def until() -> float:
            if job.researches:  # its steps are shown, and it has limits of its own
                return job.began + max(budget.longest, self._options.research_seconds + _BESIDE_RESEARCH)
            # So it is with a summary.
            return budget.ends(job.asked, job.began, has_words=reply.has_words or _summarises(command))

        try:
            async with aclosing(within(self._events(job, command), until)) as events:
                async for event in events:
                    if isinstance(event, Written):
                        return event
                    self._show(job, event, progress, reply, language)
                    if isinstance(event, Answer):
                        return await self._answered(job, event, progress, by_document(event.chunks))
        except CitebotError as error:
            return await self._reason(job, error, progress, language)
        return self.plain_reason(job, "went_wrong", Outcome.FAILED)

    def _show(self, job: Job, event: Event | Attached, progress: "_Progress", reply: Reply[R], language: str) -> None:
        if isinstance(event, Delta):
            progress.text += event.text
            reply.write(progress.text, language)
        elif isinstance(event, Attached):
            progress.attached = event
        elif isinstance(event, Progress):
            if words := progress.steps.take(event):
                reply.say(words)
            reply.follow(progress.steps.going, language)
        elif isinstance(event, Status) and event.stage in (READING, *_STAGES):
            reply.say(
                self.searching(job) if event.stage in ("search", READING) else word(_STAGES[event.stage], language)
            )

    async def _events(self, job: Job, command: Command | None) -> AsyncGenerator[Event | Attached | Written]:
        incoming, language = job.incoming, self.language(job)
        await self.forget_replaced(job)
        audience = await self._audience(incoming)
        job.knowledge_bases = self._options.readable_in(incoming, audience)
        if command is not None and command.name == "summarise":
            async for told in self._gists.written(incoming, command.query, language):
                yield told
            return
        if command is not None:
            yield await self._command(job, command, audience, language)
            return
        refusal = self._refusal(job, audience, language)
        if refusal is not None:
            yield refusal
            return
        if known := await self._known(job, audience):
            yield known
            return
        messages = tuple(job.messages.values())
        if self._files.looks(messages):
            yield Status(stage="look")
        attached = await self._files.read(messages, job.question)
        yield attached
        # Files without a word beside them are the question themselves.
        question = job.question or attached.words
        if not question:
            document = sentence(*attached.unread(language))
            yield Written(document=self._referred(document, job, language), outcome=Outcome.FAILED)
            return
        ask = Ask(
            question=question,
            knowledge_bases=job.knowledge_bases,
            filter=self._options.rule(incoming.conversation).filter,
            audience=audience,
            private_to=person(incoming) if incoming.private else "",
            conversation=await self._claims.history_of(incoming.conversation),
            of_its_own=stands_alone(incoming),
            reference=job.claim.reference,
            author=incoming.asker.name or incoming.asker.id,
            typed_by=person(incoming) if job.question and job.words is Words.OWN else "",
            thread=await self._threads.before(job.claim),
            attached=attached.messages if job.question else (),
            # What nobody typed, such as a file's own words or a model's, goes to no engine.
            web=bool(job.question) and job.words is not Words.OFFERED and self._options.web_in(incoming.conversation),
            research=job.researches,
        )
        async for event in self._backend.run(ask):
            yield event
        self._notices.spoke(incoming.conversation)

    async def forget_replaced(self, job: Job) -> None:
        """Forget the answer in whose place the job's stands."""
        if job.replaces is not None:
            conversation = await self._claims.history_of(job.incoming.conversation)
            async for _ in self._backend.run(Forget(conversation=conversation, reference=job.replaces.reference)):
                pass

    async def _audience(self, incoming: Incoming) -> frozenset[str]:
        """Return who sees the reply; what the platform does not confirm counts as not so."""
        if not incoming.private:
            return incoming.seen_by
        try:
            return incoming.seen_by | await self._platform.readers(incoming)
        except PlatformError as error:
            log.warning("who reads could not be confirmed: %s: %s", type(error).__name__, error)
            return incoming.seen_by | {person(incoming)}

    async def _known(self, job: Job, audience: frozenset[str]) -> Written | None:
        """Return the answer that was written before a crash, when it is known and still answers what is asked.

        One that cites nothing is asked for again: what is remembered doesn't tell why (found nothing, withheld).
        Access is checked anew: meanwhile somebody may have taken it away. What the prompt held beside the sources is
        not known any more, so nobody can tell who else may read the answer, and it is not to be shared.
        """
        if job.claim.attempts < 2:
            return None
        request = Recall(reference=job.claim.reference, audience=audience, knowledge_bases=job.knowledge_bases)
        found = [event async for event in self._backend.run(request) if isinstance(event, Recalled)]
        if not found or found[0].withheld or not found[0].citations or found[0].question != job.question:
            return None
        progress = _Progress(steps=StepsTaken(self.language(job)))
        known = await self._answered(job, answer_of(found[0]), progress, found[0].given)
        return replace(known, buttons=tuple(button for button in known.buttons if button is not Button.SHARE))

    def _refusal(self, job: Job, audience: frozenset[str], language: str) -> Written | None:
        """Return why nothing may be read here, None when something may."""
        incoming, options = job.incoming, self._options
        if not options.readers_of and options.plain_chat and not incoming.knowledge_bases:
            return None
        if not options.readers_of:
            return self.plain_reason(job, "no_documents", Outcome.NO_DOCUMENTS)
        unknown = [name for name in incoming.knowledge_bases if name not in options.readers_of]
        if unknown:
            return self.plain_reason(job, "no_such_base", Outcome.NOT_ALLOWED, name=unknown[0])
        if options.readable_in(incoming, audience):
            return None
        told = [phrase("not_allowed", language)]
        code = ""
        if options.is_admin(incoming):
            name = (
                incoming.knowledge_bases
                or options.rule(incoming.conversation).knowledge_bases
                or (*options.readers_of,)
            )[0]
            code = line_to_add(name, options.readers_of.get(name, ()), narrowest(audience) or person(incoming))
            told = [word("line_to_add", language)]
        elif admins := [one for one in options.admins if one.startswith(f"{self._platform.name}:")]:
            told.append(word("ask_whom", language, admins=", ".join(admins)))
        document = sentence(*told, code=code)
        return Written(document=self._referred(document, job, language), outcome=Outcome.NOT_ALLOWED)

    async def _command(self, job: Job, command: Command, audience: frozenset[str], language: str) -> Written:
        incoming = job.incoming
        if command.lists:
            if (refusal := self._refusal(job, audience, language)) is not None:
                return refusal
            only = self._options.rule(incoming.conversation).filter
            document = await listed(self._backend, command, audience, job.knowledge_bases, language, only=only)
            return Written(document=document, outcome=Outcome.SERVED)
        if command.name == "sync":
            told = sentence(word("sync_admins", language))
            if self._options.is_admin(incoming):
                told = await self._syncs.run(command.query, language, private=incoming.private)
            return Written(document=told, outcome=Outcome.SERVED)
        if command.name == "why":
            return Written(document=await self._why(job, command, audience, language), outcome=Outcome.SERVED)
        if command.name == "reset":
            history = await self._claims.history_of(incoming.conversation)
            async for _ in self._backend.run(Forget(conversation=history)):
                pass
            self._notices.forget(incoming)
            return Written(document=sentence(word("forgotten", language)), outcome=Outcome.RESET)
        greets, prompts = command.name == "start", self.prompts(language)
        if not greets:
            prompts = tuple(one for one in prompts if one != word("help_prompt", language))
        options = self._options
        told = help_document(language, researches=options.researches, summaries=options.summaries)
        document = sentence(word("greeting", language)) if greets else told
        return Written(document=document, outcome=Outcome.SERVED, prompts=prompts)

    async def _why(self, job: Job, command: Command, audience: frozenset[str], language: str) -> Document:
        """Tell an admin how the answer came about that is named, replied to, or the newest here."""
        incoming = job.incoming
        if not self._options.is_admin(incoming):
            return sentence(word("why_admins", language))
        request = Why(
            conversation=await self._claims.history_of(incoming.conversation),
            reference=command.query.casefold() or incoming.goes_on,
            audience=audience,
            knowledge_bases=job.knowledge_bases,
            person=person(incoming) if incoming.private else "",
        )
        manner = self._platform.manner(incoming)
        found = [event async for event in self._backend.run(request) if isinstance(event, Explained)]
        if not found:
            return sentence(word("why_gone", language))
        return why_in_chat(found[0].trace, private=incoming.private, short=manner.paged)

    def prompts(self, language: str) -> tuple[str, ...]:
        """Return what somebody may begin with."""
        return self._options.prompts or (word("help_prompt", language), word("sources_prompt", language))

    async def _answered(
        self, job: Job, answer: Answer, progress: "_Progress", given: Sequence[DocumentCount]
    ) -> Written:
        incoming, language = job.incoming, self.language(job)
        document = with_ages(await beside(answer.raw_text, lambda: parse_answer(answer)), language)
        if not "".join(plain_pieces(document.blocks)).strip():
            log.warning("turn %s: the answer shows nothing", job.claim.reference)
            return self.plain_reason(job, "went_wrong", Outcome.FAILED)
        manner = self._platform.manner(incoming)
        hidden = manner.notice
        notes = [*answer.notes, *([word(hidden, language)] if hidden else [])]
        shown = self._notices.choose(incoming, notes)
        shown = (*progress.attached.unread(language), *shown)
        answer = replace(answer, usage=answer.usage + progress.attached.usage)
        buttons = [Button.FEEDBACK]
        if answer.citations:
            buttons.append(Button.QUOTES)
        if offers_person(answer, job.knowledge_bases, self._options):
            buttons.append(Button.PERSON)
        if manner.shares:
            buttons.append(Button.SHARE)
        buttons.append(Button.DELETE)
        if offers_research(job.messages.values(), answer, self._options):
            buttons.append(Button.RESEARCH)
        document = replace(document, notes=tuple(map(clean_line, shown)), steps=progress.steps.ended)
        document = with_given(document, answer.citations, given, language)
        if answer.support is Support.ABSTAINED or answer.raw_text in WITHHELD:
            document = self._referred(advised(document, word("ask_otherwise", language)), job, language)
        return Written(
            document=document,
            outcome=_OUTCOMES[answer.support],
            answer=answer,
            buttons=tuple(buttons),
            prompts=answer.related or (self.prompts(language) if manner.suggests and progress.is_first else ()),
        )

    async def _reason(self, job: Job, error: CitebotError, progress: "_Progress", language: str) -> Written:
        log.warning("turn %s: %s: %s", job.claim.reference, type(error).__name__, error)
        if progress.text.strip() and job.spoken.is_set():
            return await self.cut_short(job, progress.text, phrase("interrupted", language), Outcome.FAILED)
        if isinstance(error, TooSlow):
            return self.plain_reason(job, "too_slow", Outcome.FAILED)
        if isinstance(error, StoreError):
            return self.plain_reason(job, "index_down", Outcome.FAILED)
        if isinstance(error, ContextTooSmall):
            return self.plain_reason(job, "too_long", Outcome.FAILED)
        if (key := phrase_of(error)) is not None:
            seconds = int(error.retry_after or 0) if isinstance(error, ModelRateLimited) else 0
            advice = word("ask_otherwise", language) if key in _ASKED_OTHERWISE else ""
            document = sentence(phrase(key, language, seconds=seconds), advice)
            return Written(document=self._referred(document, job, language), outcome=Outcome.FAILED)
        return self.plain_reason(job, "went_wrong", Outcome.FAILED)

    def plain_reason(self, job: Job, key: Word, outcome: Outcome, **values: str | int) -> Written:
        """Return one of our own sentences as the end of a turn, with the reference under which the log has more."""
        return Written(document=self.reason(job, key, **values), outcome=outcome)

    def reason(self, job: Job, key: Word, **values: str | int) -> Document:
        """Return one of our own sentences, with the reference under which the log has more."""
        language = self.language(job)
        return self._referred(sentence(word(key, language, **values)), job, language)

    async def cut_short(self, job: Job, text: str, why: str, outcome: Outcome) -> Written:
        """Return what was written until now: its markers were not verified, so none is shown."""
        document = await beside(text, lambda: parse_markdown(strip(text)))
        document = replace(document, notes=(why,))
        return Written(document=self._referred(document, job, self.language(job)), outcome=outcome)

    def _referred(self, document: Document, job: Job, language: str) -> Document:
        return replace(document, notes=(*document.notes, word("reference", language, reference=job.claim.reference)))


def _command_of(job: Job) -> Command | None:
    """Return what a message alone asks to be done; of several joined ones none is a command."""
    return command_of(job.incoming, job.question) if len(job.messages) == 1 else None


def _summarises(command: Command | None) -> bool:
    return command is not None and command.name == "summarise"


@dataclass(slots=True)
class _Progress:
    steps: StepsTaken
    text: str = ""
    attached: Attached = field(default_factory=Attached)
    is_first: bool = False
    """Whether nothing was answered in this conversation before, as far as is remembered."""
