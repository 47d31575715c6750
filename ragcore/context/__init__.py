"""Fit a prompt into the model's context window.

What gives way, when not everything fits, and in which order:

1. blocks of knowledge, from the least relevant;
2. rounds of history, from the oldest;
3. the middle of what tools gave for the question, down to half of what the rules and the calls leave;
4. the middle of the question, down to ``QUESTION_TOKENS``. System messages and the question's pictures never.

A message with calls of tools and their results stay or go together: those behind the question stay, and those of
history go with the round that they belong to.

Whoever recalls history bounds it (``HISTORY_SHARE``), so that a conversation that only grows leaves knowledge its room.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ragcore.context.blocks import SEPARATOR, join
from ragcore.context.cutting import cut_middle
from ragcore.context.results import shortened
from ragcore.errors import ContextTooSmall
from ragcore.tokens import Tokenizer, offline_tokenizer
from ragcore.types import Message

WINDOW_SHARE = 0.95
"""How much of the window prompt and answer may take; the rest is for what the tokenizer miscounts (RAGFlow's share)."""

MESSAGE_TOKENS = 4
REPLY_TOKENS = 3
"""What a chat format adds to each message (three, and one for the role) and to open the reply, by OpenAI's cookbook
("How to count tokens with tiktoken"). Formats of other models add about as much."""

IMAGE_TOKENS = 4_096
"""What a picture counts, whatever its size: the most that we know any endpoint to take for one. Mistral's Pixtral takes
a token for each 16 x 16 pixels of at most 1024 x 1024; OpenAI's guide "Images and vision" comes to 3,779 for
gpt-4.1-nano (1,536 patches, 2.46 tokens each) and less for the others."""

CALL_TOKENS = 16
"""What is added to a call's id, name and arguments: the tags and the JSON around them, as in Qwen 2.5's template."""

QUESTION_TOKENS = 64
HISTORY_SHARE = 0.25
"""How much of a prompt's room recalled history may take, for those who recall it."""
CUT_SHARE = 0.5
"""How much of the room a best block larger than all of it is cut to."""
SHORTEST_BLOCK = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """A prompt that fits: ``count`` is what ``prompt_tokens(messages)`` gives.

    ``blocks`` tells how many of the given knowledge blocks are in it (the first so many), ``history`` how many of the
    messages that are neither system message nor question (the last so many).
    """

    count: int
    messages: tuple[Message, ...]
    blocks: int = 0
    history: int = 0
    question_cut: bool = False


def default_budget(context_window: int) -> int:
    """Return what prompt and answer may take of a window; ``message_fit_in`` takes the answer's reserve off it."""
    return int(context_window * WINDOW_SHARE)


def prompt_tokens(messages: Sequence[Message], tokenizer: Tokenizer) -> int:
    """Return what the messages take as one prompt; 0 for none."""
    if not messages:
        return 0
    return REPLY_TOKENS + sum(message_tokens(message, tokenizer) for message in messages)


def message_tokens(message: Message, tokenizer: Tokenizer) -> int:
    """Return what one message takes: its text and calls, its pictures (``IMAGE_TOKENS`` each), what the format adds."""
    calls = sum(CALL_TOKENS + sum(map(tokenizer.count, (one.id, one.name, one.arguments))) for one in message.calls)
    said = tokenizer.count(message.text) + (tokenizer.count(message.answers) if message.answers else 0)
    return MESSAGE_TOKENS + said + calls + IMAGE_TOKENS * len(message.images)


def message_fit_in(
    messages: Sequence[Message],
    max_tokens: int,
    *,
    knowledge: Sequence[str] = (),
    reserve: int = 0,
    tokenizer: Tokenizer | None = None,
) -> tuple[int, list[Message]]:
    """Return the messages that fit, and their true count, at most ``max_tokens - reserve``.

    See ``fit_prompt``, which does the work and tells what it left out.
    """
    fitted = fit_prompt(messages, max_tokens, knowledge=knowledge, reserve=reserve, tokenizer=tokenizer)
    return fitted.count, list(fitted.messages)


def fit_prompt(
    messages: Sequence[Message],
    max_tokens: int,
    *,
    knowledge: Sequence[str] = (),
    reserve: int = 0,
    tokenizer: Tokenizer | None = None,
) -> Fitted:
    """Fit system messages, history, question and knowledge into ``max_tokens`` less the answer's reserve.

    Args:
        messages: In order; the last that is no system message is the question, those before it are history. Where it
            is a message with calls or a result, the question is what the user said last before it.
        max_tokens: What prompt and answer may take together; ``default_budget(window)`` as a rule.
        knowledge: Finished blocks, best first; what stays of them is added to the first system message.
        reserve: Tokens kept free for the answer.
        tokenizer: Default: the offline one.

    Returns:
        The fitted prompt; the input is never changed.

    Raises:
        ContextTooSmall: If system messages, reserve and the shortest question exceed the budget.
    """
    tokenizer = tokenizer or offline_tokenizer()
    room = max_tokens - reserve
    parts = _with_results(_Parts.of(messages), room, tokenizer)
    question, free = _fit_question(parts, room, reserve, tokenizer)
    if question is not parts.question:
        return _assemble(parts, question, (), 0, tokenizer)
    return _fit_around(parts, _whole_or_cut(knowledge, free, tokenizer), room, free, tokenizer)


def _fit_around(parts: "_Parts", knowledge: Sequence[str], room: int, free: int, tokenizer: Tokenizer) -> Fitted:
    """Share the free room out between knowledge and history, and count the result as it is.

    Blocks are counted one by one; joined they take a token or two less each, rarely one more. So the sharing first
    hopes for the less, and what then is over the room is shared out again without the hope.
    """
    blocks: tuple[str, ...]
    for hoped in (2 * len(knowledge), 0):
        blocks, history = _share(parts, knowledge, free + hoped, tokenizer)
        fitted = _assemble(parts, parts.question, blocks, history, tokenizer)
        if fitted.count <= room:
            return fitted
    while fitted.count > room and blocks:
        blocks = blocks[:-1]
        fitted = _assemble(parts, parts.question, blocks, history, tokenizer)
    return fitted


def fit_chunks(blocks: Sequence[str], budget: int, tokenizer: Tokenizer) -> tuple[str, ...]:
    """Return as many of the first blocks as fit the budget when joined; the first one cut when not even it fits."""
    if not blocks:
        return ()
    if tokenizer.count(blocks[0]) > budget:
        blocks = _whole_or_cut(blocks, budget, tokenizer)
    size = _take([_block_tokens(block, tokenizer) for block in blocks], budget)
    while size < len(blocks) and tokenizer.count(join(blocks[: size + 1])) <= budget:
        size += 1
    while size and tokenizer.count(join(blocks[:size])) > budget:
        size -= 1
    return tuple(blocks[:size])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The messages by what they are: ``rules`` are the indexes of the system messages, ``place`` is the question's.

    ``work`` are the indexes of the calls behind the question and of their results. Everything else is walked from the
    end, and no further than it fits: a long past costs nothing.
    """

    messages: Sequence[Message]
    rules: Sequence[int]
    place: int
    work: Sequence[int] = ()

    @classmethod
    def of(cls, messages: Sequence[Message]) -> "_Parts":
        place = len(messages) - 1
        while place >= 0 and messages[place].role == "system":
            place -= 1
        if place >= 0 and _is_work(messages[place]):
            place = max((index for index in range(place) if messages[index].role == "user"), default=-1)
        rules = [index for index, message in enumerate(messages) if message.role == "system"]
        work = [index for index in range(place + 1, len(messages)) if messages[index].role != "system"]
        return cls(messages=messages, rules=rules, place=place, work=work)

    @property
    def question(self) -> Message | None:
        return self.messages[self.place] if self.place >= 0 else None

    def past(self) -> Iterator[int]:
        """Yield the indexes of the history, the newest first."""
        return (index for index in range(self.place - 1, -1, -1) if self.messages[index].role != "system")


def _is_work(message: Message) -> bool:
    return message.role == "tool" or bool(message.calls)


def _with_results(parts: _Parts, room: int, tokenizer: Tokenizer) -> _Parts:
    """Return the parts with shorter results behind the question, where they would leave too little to it."""
    results = [index for index in parts.work if parts.messages[index].role == "tool"]
    if not results:
        return parts
    bare = {index: replace(parts.messages[index], text="") for index in results}
    fixed = [bare.get(index, parts.messages[index]) for index in (*parts.rules, *parts.work)]
    left = room - prompt_tokens(fixed, tokenizer)
    asked = message_tokens(parts.question, tokenizer) if parts.question else 0
    texts = [parts.messages[index].text for index in results]
    cut = shortened(texts, max(left - asked, left // 2), tokenizer)
    messages = list(parts.messages)
    for index, text in zip(results, cut, strict=True):
        messages[index] = replace(messages[index], text=text)
    return replace(parts, messages=messages)


def _fit_question(parts: _Parts, room: int, reserve: int, tokenizer: Tokenizer) -> tuple[Message | None, int]:
    """Return the question, cut if it must be, and the room that it and the rules leave."""
    if not parts.messages and room >= 0:
        return None, room - REPLY_TOKENS
    fixed = [parts.messages[index] for index in (*parts.rules, *parts.work)]
    rules = prompt_tokens(fixed, tokenizer) or REPLY_TOKENS
    if parts.question is None:
        if rules > room:
            raise _too_small(rules, reserve, 0, room)
        return None, room - rules
    whole = tokenizer.count(parts.question.text)
    frame = message_tokens(replace(parts.question, text=""), tokenizer)
    left = room - rules - frame
    if left < min(whole, QUESTION_TOKENS):
        raise _too_small(rules, reserve, min(whole, QUESTION_TOKENS) + frame, room)
    if whole <= left:
        return parts.question, left - whole
    text = cut_middle(parts.question.text, QUESTION_TOKENS, left, tokenizer)
    return replace(parts.question, text=text), 0


def _too_small(rules: int, reserve: int, question: int, room: int) -> ContextTooSmall:
    return ContextTooSmall(
        f"the prompt needs {rules} tokens for its rules, {reserve} for the answer and at least {question} for the "
        f"question, and the budget is {room + reserve}: raise context_window, or lower max_tokens"
    )


def _share(parts: _Parts, blocks: Sequence[str], free: int, tokenizer: Tokenizer) -> tuple[tuple[str, ...], int]:
    """Return the blocks and the number of last messages of history that stay, by the order of this module's head."""
    costs = [_block_tokens(block, tokenizer) for block in blocks]
    if costs and not parts.rules:
        costs[0] += MESSAGE_TOKENS  # the blocks need a message of their own
    history, left = _take_rounds(_rounds(parts, tokenizer), free)
    taken = _take(costs, left)
    return tuple(blocks[:taken]), history


def _take(costs: Sequence[int], room: int) -> int:
    """Return how many of the first costs fit the room."""
    for index, cost in enumerate(costs):
        room -= cost
        if room < 0:
            return index
    return len(costs)


def _take_rounds(rounds: Iterator[tuple[int, int]], room: int) -> tuple[int, int]:
    """Return how many messages the first rounds that fit hold, and the room left."""
    kept = 0
    for size, cost in rounds:
        if cost > room:
            break
        kept += size
        room -= cost
    return kept, room


def _rounds(parts: _Parts, tokenizer: Tokenizer) -> Iterator[tuple[int, int]]:
    """Yield (messages, tokens) of each round, the newest first: what users said in a row and what answered it."""
    size = cost = 0
    asked = False
    for index in parts.past():
        message = parts.messages[index]
        if asked and message.role != "user":
            yield size, cost
            size = cost = 0
            asked = False
        size += 1
        cost += message_tokens(message, tokenizer)
        asked = asked or message.role == "user"
    if size:
        yield size, cost


def _whole_or_cut(blocks: Sequence[str], room: int, tokenizer: Tokenizer) -> Sequence[str]:
    """Return the blocks, or the beginning of the best one alone when it is larger than all the room there is."""
    if not blocks or _block_tokens(blocks[0], tokenizer) <= room:
        return blocks
    half = int(room * CUT_SHARE) - tokenizer.count(SEPARATOR)
    return (tokenizer.head(blocks[0], half),) if half >= SHORTEST_BLOCK else ()


def _block_tokens(block: str, tokenizer: Tokenizer) -> int:
    """Return what a block takes with the line before it."""
    return tokenizer.count(SEPARATOR + block)


def _assemble(
    parts: _Parts, question: Message | None, blocks: tuple[str, ...], history: int, tokenizer: Tokenizer
) -> Fitted:
    """Put the parts that stay into their old order, the blocks into the first system message."""
    start = next(islice(parts.past(), history - 1, None)) if history else max(0, parts.place)
    kept = [parts.messages[index] for index in parts.rules if index < start] + list(parts.messages[start:])
    if question is not None and parts.question is not question:
        kept[parts.place - len(parts.messages)] = question
    messages = _with_knowledge(kept, blocks)
    return Fitted(
        count=prompt_tokens(messages, tokenizer),
        messages=tuple(messages),
        blocks=len(blocks),
        history=history,
        question_cut=question is not parts.question,
    )


def _with_knowledge(messages: list[Message], blocks: tuple[str, ...]) -> list[Message]:
    if not blocks:
        return messages
    text = join(blocks)
    for index, message in enumerate(messages):
        if message.role == "system":
            return [*messages[:index], replace(message, text=f"{message.text}\n\n{text}"), *messages[index + 1 :]]
    return [Message(role="system", text=text), *messages]
