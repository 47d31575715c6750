"""Which questions of a conversation lean on what was said before, and what goes along with them, on canard-dev.

    python -m benchmarks.followups [--misses]

The set has 400 follow-up questions, each with the stand-alone question that a person made of it, and no documents. Told
are the share of follow-ups that are known as such, the share of the stand-alone questions that are left alone in the
same conversation, and how many of the words that the person added go along with ours, beside how many of them stand in
the conversation at all. The rules were written looking at half 0 (by the hash of the ids), and at about fifteen rows of half 1.
What it does to a search: ``python -m benchmarks.retrieval inscit --history --halves``.
"""

import argparse
import hashlib
import json
import pathlib

from ragcore.refine.followups import followup, stands_alone
from ragcore.terms import is_stop_word, terms
from ragcore.types import Message

BENCH = pathlib.Path(__file__).resolve().parents[2] / "shared" / "bench"


def content(*texts: str) -> set[str]:
    """Return the telling terms of texts."""
    return {term.text for text in texts for term in terms(text) if not is_stop_word(term)}


def main() -> None:
    """Print a row for each half."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="print the follow-ups of half 0 that are taken as whole")
    arguments = parser.parse_args()
    path = BENCH / "canard-dev" / "queries.jsonl"
    if not path.is_file():
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
        return
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    print(
        "| half | follow-ups known | rewrites left alone | words added | of those that were said | ours among theirs |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for half in (0, 1):
        own = [row for row in rows if hashlib.md5(row["qid"].encode(), usedforsecurity=False).digest()[0] & 1 == half]
        known = alone = wanted = given = possible = carried = 0
        for row in own:
            history = tuple(Message(role=turn["role"], text=turn["content"]) for turn in row["history"])
            found = followup(row["query"], history)
            known += found is not None
            alone += stands_alone(row["rewrite"], history)
            asked = content(row["query"])
            added = content(row["rewrite"]) - asked
            ours = (content(*found.names, found.before) if found else set()) - asked
            wanted += len(added)
            given += len(added & ours)
            possible += len(added & content(*(message.text for message in history)))
            carried += len(ours)
            if arguments.misses and not half and found is None:
                print(f"  {row['query']}  ->  {row['rewrite']}")
        shares = (known / len(own), alone / len(own), given / wanted, given / possible, given / carried)
        print(f"| {half} | {' | '.join(f'{share:.2f}' for share in shares)} |")


if __name__ == "__main__":
    main()
