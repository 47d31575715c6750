"""What OpenAI's chat completions ask of the messages of calls of tools: each call is answered at once, and by its id."""

from collections.abc import Mapping, Sequence
from typing import Any


def broken_rule(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return the rule that the messages break, in the endpoint's words; "" where they keep them all."""
    owed: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in owed or not isinstance(message.get("content"), str):
                return (
                    f"Invalid parameter: messages[{place}] with role 'tool' must be a response to a preceeding message "
                    "with 'tool_calls'."
                )
            owed.remove(message["tool_call_id"])
            continue
        if owed:
            break
        owed = [call["id"] for call in message.get("tool_calls", ())]
        if owed and (message["role"] != "assistant" or len(owed) != len(set(owed)) or not all(owed)):
            return f"Invalid parameter: messages[{place}].tool_calls"
        if message.get("content") is None and not owed:
            return f"Invalid value for 'content' of messages[{place}]: expected a string, got null."
    if owed:
        return (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(owed)}"
        )
    return ""
