"""Parsing: phrases found, time a file, gold evidence on the right page, and memory on a long PDF.

    python -m benchmarks.parsing

Reads ../shared/bench/documents and ../shared/bench/financebench-dev. White space is left out of the comparison on both
sides: where an extractor of reference put a space inside a word, the word still counts as found.
"""

import argparse
import json
import pathlib
import resource
import time
from dataclasses import dataclass

from ragcore.parsing import parse
from ragcore.types import ParsedDocument

BENCH = pathlib.Path(__file__).resolve().parents[2] / "shared" / "bench"
_WORDS = 3
"""Evidence counts as found by the share of its runs of so many words that stand on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A parsed document and how long it took."""

    parsed: ParsedDocument
    milliseconds: float


def timed(path: pathlib.Path, repeats: int) -> Timed:
    """Parse a file several times and keep the best time."""
    content = path.read_bytes()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        parsed = parse(content, name=path.name)
        best = min(best, time.perf_counter() - start)
    return Timed(parsed=parsed, milliseconds=best * 1000)


def bare(text: str) -> str:
    """Return the text without white space."""
    return "".join(text.split())


def phrases(repeats: int) -> None:
    """Print, for each real file, the phrases found and the time."""
    found = total = exact = 0
    for line in (BENCH / "documents" / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        result = timed(BENCH / "documents" / entry["file"], repeats)
        text = "\n".join(section.text for section in result.parsed.sections)
        single_spaced = " ".join(text.split())
        missing = [phrase for phrase in entry["phrases"] if bare(phrase) not in bare(text)]
        exact += sum(" ".join(phrase.split()) in single_spaced for phrase in entry["phrases"])
        unwanted = [phrase for phrase in entry.get("absent", []) if bare(phrase) in bare(text)]
        count = len(entry["phrases"])
        found, total = found + count - len(missing), total + count
        print(
            f"{entry['file'][:52]:52} {count - len(missing):3}/{count:<3} {result.milliseconds:8.1f} ms",
            *missing,
            *unwanted,
        )
    print(f"phrases found: {found} of {total} ({exact} also with white space kept as single spaces)")


def evidence() -> None:
    """Print how much of each gold evidence text stands on its page."""
    shares: list[float] = []
    folder = BENCH / "financebench-dev"
    parsed: dict[str, ParsedDocument] = {}
    for path in sorted((folder / "documents").glob("*.pdf")):
        result = timed(path, 1)
        parsed[path.name] = result.parsed
        pages = max(section.location.page for section in result.parsed.sections)
        print(f"{path.name:52} {pages:4} pages {result.milliseconds / pages:6.1f} ms a page")
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        for gold in query["evidence"]:
            sections = [s for s in parsed[query["document"]].sections if s.location.page == gold["page"]]
            share = word_runs_found(gold["text"], "\n".join(section.text for section in sections))
            shares.append(share)
            print(f"{query['qid']} page {gold['page']:3}: {share:.3f}")
    print(f"evidence on its page: {sum(shares) / len(shares):.3f} of runs of {_WORDS} words, {len(shares)} texts")


def word_runs_found(gold: str, text: str) -> float:
    """Return the share of runs of words of the gold text that stand in the text, letters and digits alone counted."""
    words, page = _tokens(gold), " " + " ".join(_tokens(text)) + " "
    runs = [f" {' '.join(words[at : at + _WORDS])} " for at in range(max(1, len(words) - _WORDS + 1))]
    return sum(run in page for run in runs) / len(runs)


def _tokens(text: str) -> list[str]:
    return "".join(char.lower() if char.isalnum() and char.isascii() else " " for char in text).split()


def memory(pages: int) -> None:
    """Print the time and the growth of memory on a made PDF."""
    from tests.ragcore.parsing.makers import Words, lines, pdf

    body = [f"Line {number} of running text that says something about a matter of some weight." for number in range(45)]
    content = pdf(
        [
            [Words(text=f"Report {page}", y=770, size=9), *lines([f"{page}: {line}" for line in body])]
            for page in range(pages)
        ]
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seen: list[tuple[int, float]] = []

    def remember(done: int, _: int) -> None:
        seen.append((done, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))

    start = time.perf_counter()
    parsed = parse(content, name="long.pdf", progress=remember)
    seconds = time.perf_counter() - start
    characters = sum(len(section.text) for section in parsed.sections)
    quarter = seen[len(seen) // 4]
    print(
        f"{pages} pages, {len(content) / 1e6:.1f} MB: {seconds:.1f} s, {1000 * seconds / pages:.1f} ms a page; peak memory "
        f"{before:.0f} MB before, {quarter[1]:.0f} MB at page {quarter[0]}, {seen[-1][1]:.0f} MB at the end "
        f"({characters / 1e6:.1f} million characters of text are part of it)"
    )


def main() -> None:
    """Run all parts."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    options.add_argument("--repeats", type=int, default=3, help="parse each real file so often and keep the best time")
    options.add_argument("--pages", type=int, default=2000, help="pages of the made PDF; 0 leaves it out")
    chosen = options.parse_args()
    if BENCH.is_dir():
        phrases(chosen.repeats)
        evidence()
    else:
        print("skipped: the public data sets are not beside this checkout (../shared/bench)")
    if chosen.pages:
        memory(chosen.pages)


if __name__ == "__main__":
    main()
