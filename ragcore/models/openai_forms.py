"""Messages and tools in the form in which OpenAI-compatible chat completions take them. Pure."""

import json
from collections.abc import Sequence

from ragcore.models.llm import ToolSpec
from ragcore.types import Message, ToolCall


def message_form(message: Message, *, no_text: str | None = "") -> dict[str, object]:
    """Return a message as it is sent; ``no_text`` stands for the text beside calls where there is none.

    OpenAI's reference lets it be left out or null, which LM Studio's, Ollama's and llama-cpp-python's server refuse or
    refused; gateways to Bedrock refuse an empty one.
    """
    form: dict[str, object] = {"role": message.role, "content": _content(message)}
    if message.calls:
        form["content"] = form["content"] or no_text
        form["tool_calls"] = [_call(one) for one in message.calls]
    if message.role == "tool":
        form["tool_call_id"] = message.answers
    return form


def tool_form(tool: ToolSpec) -> dict[str, object]:
    """Return a tool as it is offered."""
    properties = {one.name: {"type": "string", "description": one.description} for one in tool.parameters}
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def tools_text(tools: Sequence[ToolSpec]) -> str:
    """Return tools as the text that a model reads of them, about: endpoints put them into its prompt as JSON."""
    return "\n".join(json.dumps(tool_form(tool), ensure_ascii=False) for tool in tools)


def encodable(text: str) -> str:
    """Return the text with lone surrogates, which JSON cannot carry in UTF-8, as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _call(call: ToolCall) -> dict[str, object]:
    function = {"name": encodable(call.name), "arguments": encodable(call.arguments)}
    return {"id": encodable(call.id), "type": "function", "function": function}


def _content(message: Message) -> str | list[dict[str, object]]:
    """Return the text, or text and pictures as the parts that chat completions take them in."""
    text = encodable(message.text)
    if not message.images:
        return text
    pictures: list[dict[str, object]] = [
        {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.data}"}}
        for image in message.images
    ]
    return [{"type": "text", "text": text}, *pictures] if text.strip() else pictures
