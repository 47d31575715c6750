"""What the tests of the chat client share: a client of the scripted endpoint, and ways to read what it yields."""

from typing import Any

from ragcore.models.llm import Finish, Piece, TextPiece
from ragcore.models.openai_chat import ChatLimits, OpenAIChatModel
from ragcore.types import Message
from tests.fakes.openai_server import OpenAIServer

QUESTION = [Message(role="system", text="Be brief."), Message(role="user", text="What is it?")]
FAST = ChatLimits(first_backoff=0.01, connect=2, first_token=30, total=120)
KEY = "sk-secret-0123456789abcdef"


def make(server: OpenAIServer, limits: ChatLimits = FAST, **more: Any) -> OpenAIChatModel:
    return OpenAIChatModel(base_url=server.base_url, model="fake", api_key=KEY, limits=limits, **more)


async def collect(model: OpenAIChatModel, task: str = "answer") -> list[Piece]:
    return [piece async for piece in model.stream(QUESTION, task=task)]


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))


def finish_of(pieces: list[Piece]) -> Finish:
    assert [isinstance(piece, Finish) for piece in pieces].count(True) == 1
    assert isinstance(pieces[-1], Finish)
    return pieces[-1]
