"""Texts that name things, a model that reads them out as a good one would, and what a library then knows."""

import json
import re

from ragcore.enrich.asking import Asker
from ragcore.enrich.options import EnrichOptions
from ragcore.enrich.passing import enrich
from ragcore.library import Library
from ragcore.prompts import OWN
from ragcore.reports import EnrichReport
from ragcore.stores.model_results import ModelResults
from ragcore.tokens import offline_tokenizer
from tests.fakes.chatting import Say, SayingModel

GRAPH = EnrichOptions(graph=True)
VERBS = {"founded": 9, "owns": 8, "governs": 7, "supplies": 6, "borders": 2}
IS_ASKED_OF_SAME = "mean the same thing"
"""Stands in the rules where a model is asked about names in doubt."""
_NAME = r"[A-Z]\w*(?: [A-Z]\w*)*(?: \([A-Z]+\))?"
_SENTENCE = re.compile(rf"({_NAME}) ({'|'.join(VERBS)}) ({_NAME})")


def read_out(rules: str, material: str) -> str:
    """Read out each sentence of the form ``Ann founded Acme``; of names in doubt none means the same as another."""
    if IS_ASKED_OF_SAME in rules:
        return '{"same": []}'
    found = _SENTENCE.findall(material)
    names = dict.fromkeys(name for source, _, target in found for name in (source, target))
    entities = [{"name": name, "type": "thing", "description": f"{name} of the passage"} for name in names]
    relations = [
        {"source": source, "target": target, "description": f"{source} {verb} {target}", "weight": VERBS[verb]}
        for source, verb, target in found
    ]
    return json.dumps({"entities": entities, "relations": relations})


async def told(library: Library, say: Say = read_out, options: EnrichOptions = GRAPH, base: str = "kb") -> EnrichReport:
    """Let a model read the graph of a knowledge base out of its chunks."""
    asker = Asker(
        model=SayingModel(say),
        identity="m",
        results=ModelResults(library.database),
        prompts=OWN,
        tokenizer=offline_tokenizer(),
    )
    *_, report = [event async for event in enrich(library, base, options, asker)]
    assert isinstance(report, EnrichReport)
    return report
