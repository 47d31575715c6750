"""Pictures: told by their first bytes, put into words by one call, and counted in every prompt they stand in."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.context import IMAGE_TOKENS, fit_prompt, message_fit_in, prompt_tokens
from ragcore.errors import ContextTooSmall, ModelBadOutput, ModelError
from ragcore.images import describe, image_of
from ragcore.prompts import render
from ragcore.tokens import offline_tokenizer
from ragcore.types import Image, Message
from tests.fakes.openai_server import Failure, OpenAIServer, Reply
from tests.ragcore.models.llm_calls import make

TOKENIZER = offline_tokenizer()
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
KINDS = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "image/gif": b"GIF89a\x01\x00",
    "image/webp": b"RIFF\x24\x00\x00\x00WEBPVP8 ",
}
MESSAGES = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["user", "assistant"]),
        text=st.text(max_size=30),
        images=st.integers(0, 2).map(lambda count: (Image(media_type="image/png", data="AA=="),) * count),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_picture_is_told_by_its_first_bytes(kind: str) -> None:
    image = image_of(KINDS[kind])
    assert image is not None
    assert image.media_type == kind
    assert base64.b64decode(image.data) == KINDS[kind]


@given(st.binary(max_size=40))
def test_what_begins_otherwise_is_no_picture(content: bytes) -> None:
    starts = [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"RIFF"]
    if not content.startswith(tuple(starts)):
        assert image_of(content) is None


@pytest.mark.parametrize("content", [b"", b"RIFF\x24\x00\x00\x00WAVEfmt ", b"BM\x00", b"GIF90a", b"%PDF-1.7"])
def test_other_formats_are_no_picture(content: bytes) -> None:
    assert image_of(content) is None


@given(MESSAGES)
def test_a_picture_counts_beside_the_text(messages: list[Message]) -> None:
    bare = [Message(role=message.role, text=message.text) for message in messages]
    pictures = sum(len(message.images) for message in messages)
    assert prompt_tokens(messages, TOKENIZER) == prompt_tokens(bare, TOKENIZER) + pictures * IMAGE_TOKENS


@given(MESSAGES, st.integers(0, 40_000))
def test_a_prompt_with_pictures_never_exceeds_its_budget(messages: list[Message], budget: int) -> None:
    try:
        count, fitted = message_fit_in(messages, budget)
    except ContextTooSmall:
        needed = prompt_tokens([messages[-1]], TOKENIZER)
        assert needed > budget
        return
    assert count == prompt_tokens(fitted, TOKENIZER) <= budget
    assert fitted[-1].images == messages[-1].images


async def test_a_picture_is_sent_as_the_endpoint_takes_it() -> None:
    async with OpenAIServer() as server:
        model = make(server)
        image = image_of(PNG)
        assert image is not None
        server.queue(Reply(text=" ERR_CONN_104 "), Reply(text="A cat."))
        assert (await describe(model, image, "What does it mean?", TOKENIZER))[0] == "ERR_CONN_104"
        assert (await describe(model, image, "", TOKENIZER))[0] == "A cat."
        first, second = (request.body["messages"] for request in server.requests)
        url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
        picture = {"type": "image_url", "image_url": {"url": url}}
        assert first[0] == {"role": "system", "content": render("describe_image")}
        assert first[1] == {"role": "user", "content": [{"type": "text", "text": "What does it mean?"}, picture]}
        assert second[1] == {"role": "user", "content": [picture]}
        await model.close()


async def test_a_description_that_was_cut_is_taken_as_it_is() -> None:
    async with OpenAIServer() as server:
        model = make(server)
        image = image_of(PNG)
        assert image is not None
        server.queue(Reply(text="The first of many lines", finish="length"), Reply(text="", finish="length"))
        text, usage = await describe(model, image, "?", TOKENIZER)
        assert text == "The first of many lines"
        assert usage.prompt_tokens > IMAGE_TOKENS
        with pytest.raises(ModelBadOutput):
            await describe(model, image, "?", TOKENIZER)
        server.queue(Failure(status=400, message="this model takes no image_url"))
        with pytest.raises(ModelError):
            await describe(model, image, "?", TOKENIZER)
        await model.close()


async def test_a_window_too_small_for_a_picture_is_told_before_it_is_asked() -> None:
    async with OpenAIServer() as server:
        model = make(server, context_window=4_096)
        image = image_of(PNG)
        assert image is not None
        with pytest.raises(ContextTooSmall):
            await describe(model, image, "?", TOKENIZER)
        assert server.requests == []
        await model.close()


def test_rounds_with_pictures_give_way_first() -> None:
    image = Image(media_type="image/png", data="AA==")
    past = [Message(role="user", text="look", images=(image,)), Message(role="assistant", text="A cat.")]
    question = Message(role="user", text="And now?")
    assert fit_prompt([*past, question], 4_000).messages == (question,)
    assert len(fit_prompt([*past, question], 5_000).messages) == 3
