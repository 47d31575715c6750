"""What was said before reaches the model again: the newest of it, as far as its share of the prompt goes."""

import pathlib

from bots.app import open_operations
from bots.requests import Ask, Forget, Sync
from bots.settings import load_settings
from ragcore.context import HISTORY_SHARE, default_budget
from ragcore.tokens import offline_tokenizer
from ragcore.types import ConversationKey, Message
from tests.fakes.openai_server import OpenAIServer, Reply

WINDOW, LONGEST = 8_192, 1_024
HERE = ConversationKey(platform="terminal", thread="1")
SAID = "Up to five unused leave days may be carried into the next year [ID:0]. " * 20


async def prompt_after(
    folder: pathlib.Path,
    server: OpenAIServer,
    *questions: str,
    forget: bool = False,
    thread: tuple[Message, ...] = (),
    of_its_own: bool = False,
) -> list[str]:
    """Ask the questions in one conversation, in a process of its own as far as the data go; return the last prompt."""
    async with open_operations(load_settings(folder / "citebot.toml")) as operations:
        requests = [Sync(), *([Forget(conversation=HERE)] if forget else [])]
        for request in [
            *requests,
            *(
                Ask(question=question, conversation=HERE, thread=thread, of_its_own=of_its_own)
                for question in questions
            ),
        ]:
            async for _ in operations.run(request):
                pass
    return server.requests[-1].texts


async def test_the_newest_rounds_are_recalled_within_their_share_until_they_are_forgotten(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / "handbook").mkdir()
    (tmp_path / "handbook" / "leave.md").write_text("# Leave\n\nUp to five unused leave days may be carried over.\n")
    async with OpenAIServer(default=Reply(text=SAID)) as server:
        (tmp_path / "citebot.toml").write_text(
            f'[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\ncontext_window = {WINDOW}\nmax_tokens = {LONGEST}\n'
            '[[sources]]\nname = "handbook"\ntype = "files"\npath = "handbook"\n'
        )
        asked = [f"How many unused leave days may be carried over in year {number}?" for number in range(9)]
        await prompt_after(tmp_path, server, *asked[:5])
        _, *past, question = await prompt_after(tmp_path, server, *asked[5:])
        assert question == asked[-1]
        rounds = len(past) // 2
        assert past[::2] == asked[-1 - rounds : -1]
        assert not any("[ID:" in text for text in past)

        tokenizer = offline_tokenizer()
        counts = [tokenizer.count(text) for text in past]
        share = HISTORY_SHARE * (default_budget(WINDOW) - LONGEST)
        assert sum(counts) <= share < sum(counts) + counts[0] + counts[1]

        own = "How many leave days may be carried over at most?"
        assert (await prompt_after(tmp_path, server, own, of_its_own=True))[1:] == [own], "no history of it is recalled"
        assert (await prompt_after(tmp_path, server, asked[1]))[-3] == own, "but it is remembered"

        thread = (Message(role="user", text="I doubt it."), Message(role="user", text="So do I."))
        _, *past = await prompt_after(tmp_path, server, asked[0], thread=thread)
        assert past[-3:] == ["I doubt it.", "So do I.", asked[0]]
        assert past[-5] == asked[1], "what else was said follows the history"

        assert await prompt_after(tmp_path, server, "How many unused leave days?", forget=True) == [
            server.requests[-1].texts[0],
            "How many unused leave days?",
        ]
