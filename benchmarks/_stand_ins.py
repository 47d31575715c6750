"""Endpoints on loopback that stand in for models which can't be had offline; they show a path, never a gain.

    python -m benchmarks._stand_ins [--port 8001]

- ``POST /v1/rerank``, in Jina's form: the cosine of question and text by MiniLM, which the search has used already. It
  is no cross-encoder, and reads nothing that the search doesn't; but it takes real seconds for real texts.
- ``POST /v1/chat/completions``, as OpenAI has it: the same 60 words whatever is shown; but of a passage for a knowledge
  graph the capitalised words within its sentences, those of one sentence related. It tells no usage, so what is counted
  is what Citebot counts itself.
"""

import argparse
import itertools
import json
import re
from typing import Any

from aiohttp import web

from ragcore.models.embeddings import Embedder
from ragcore.models.minilm import MiniLMEmbedder

PORT = 8_001
WORDS = (
    "The picture shows a page of printed text in black on a white ground. The lines run from left to right and fill the "
    "sheet from its upper edge. There is no drawing, no chart and no photograph in it, and nothing is marked or underlined. "
    "The letters are of one size and of one kind throughout, and the margin is narrow."
)
"""A description of any picture of these benchmarks: true of each, and tells none from the others."""


_SENTENCE = re.compile(r"[^.!?\n]+")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z]\w+(?: [A-Z]\w+)*")
MOST_NAMES, MOST_RELATIONS = 16, 24


def graph(passage: str) -> str:
    """Return what the capitalised words of a passage have to do with each other, as the step of the graph asks for it."""
    told = {sentence.strip(): tuple(dict.fromkeys(_NAME.findall(sentence))) for sentence in _SENTENCE.findall(passage)}
    names = list(dict.fromkeys(name for found in told.values() for name in found))[:MOST_NAMES]
    relations = [
        {"source": one, "target": other, "description": sentence, "weight": 5}
        for sentence, found in told.items()
        for one, other in itertools.combinations([name for name in found if name in names], 2)
    ]
    entities = [{"name": name, "type": "name", "description": ""} for name in names]
    return json.dumps({"entities": entities, "relations": relations[:MOST_RELATIONS]})


def reply(messages: list[dict[str, Any]]) -> str:
    """Return what is written to some messages."""
    rules, said = messages[0]["content"], messages[-1]["content"]
    if not isinstance(said, str) or "knowledge graph" not in rules:
        return WORDS
    return graph(said) if "passage" in rules else json.dumps({"same": []})


def app(embedder: Embedder) -> web.Application:
    """Return the endpoints; ``embedder`` scores what is to be put in order."""

    async def rerank(request: web.Request) -> web.Response:
        body: dict[str, Any] = await request.json()
        vectors = await embedder.embed([body["query"], *body["documents"]])
        # From 0 to 1, as rerankers give shares: a score outside is taken for a logit.
        scores = (vectors[1:] @ vectors[0] + 1.0) / 2.0
        order = sorted(range(len(scores)), key=lambda index: -scores[index])[: body.get("top_n") or len(scores)]
        rows = [{"index": index, "relevance_score": min(1.0, max(0.0, float(scores[index])))} for index in order]
        return web.json_response({"results": rows})

    async def describe(request: web.Request) -> web.Response:
        body: dict[str, Any] = await request.json()
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": reply(body["messages"])},
            "finish_reason": "stop",
        }
        frame = {"id": "stand-in", "object": "chat.completion", "created": 0, "model": body["model"]}
        return web.json_response({**frame, "choices": [choice]})

    found = web.Application(client_max_size=64 * 2**20)
    found.router.add_post("/v1/rerank", rerank)
    found.router.add_post("/v1/chat/completions", describe)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=PORT)
    web.run_app(app(MiniLMEmbedder()), host="127.0.0.1", port=parser.parse_args().port)


if __name__ == "__main__":
    main()
