"""Pictures beside a question: what they are, by their first bytes, and their words, by a model that reads pictures."""

import asyncio
import base64

from ragcore.context import default_budget, fit_prompt
from ragcore.errors import ModelBadOutput
from ragcore.models.llm import ChatModel
from ragcore.prompts import OWN, Prompts
from ragcore.tokens import Tokenizer
from ragcore.types import Image, ImageType, Message, Usage


def image_of(content: bytes) -> Image | None:
    """Return the content as a picture that models read; None when it is none, or one of another kind.

    The signatures are those of PNG (its specification, section 5.2), JPEG (ISO 10918-1: SOI, and the next marker's
    first byte), GIF (87a and 89a) and WebP (RFC 9649, section 2.4).
    """
    kind = _kind(content)
    return Image(media_type=kind, data=base64.b64encode(content).decode("ascii")) if kind else None


def _kind(content: bytes) -> ImageType | None:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return None


async def describe(
    model: ChatModel, image: Image, question: str, tokenizer: Tokenizer, *, prompts: Prompts = OWN
) -> tuple[str, Usage]:
    """Return the words of a picture and what it shows, as far as the question needs it, and what that took.

    A description that was cut at its limit is better than none, and is given as it is.

    Args:
        model: One that reads pictures.
        image: The picture.
        question: What is asked beside it; may be empty.
        tokenizer: Counts the question; a long one is cut in its middle.
        prompts: The templates.

    Raises:
        ModelError: The model gave nothing.
        ContextTooSmall: The picture does not fit into the model's window.
    """
    fitted = await asyncio.to_thread(
        fit_prompt,
        [
            Message(role="system", text=prompts.render("describe_image")),
            Message(role="user", text=question, images=(image,)),
        ],
        default_budget(model.context_window),
        reserve=model.max_tokens,
        tokenizer=tokenizer,
    )
    try:
        text, usage = await model.complete(fitted.messages, task="vision")
    except ModelBadOutput as error:
        if not error.raw.strip():
            raise
        written = tokenizer.count(error.raw)
        return error.raw.strip(), Usage(calls=1, prompt_tokens=fitted.count, completion_tokens=written)
    return text.strip(), usage
