"""What a sync costs: of a folder, of a source over HTTP, and what it costs whoever asks meanwhile.

    python -m benchmarks.sync [folder] [requests] [chat] [--documents 10000] [--beside 300] [--questions 40]

Of a folder and of a source over HTTP: the first sync, one without changes, one with ten, one with ten deleted; there
the embedder is a stand-in that costs nothing, and counts. In a chat everything is real: how long an answer takes while
a source is synced, against an idle process, and how soon what is deleted is gone.
"""

import argparse
import asyncio

from benchmarks import _sync_chat, _sync_folder, _sync_requests

PARTS = ("folder", "requests", "chat")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--documents", type=int, default=10_000, help="of the folder, and of the source over HTTP")
    parser.add_argument("--beside", type=int, default=300, help="documents that are embedded beside the chat")
    parser.add_argument("--questions", type=int, default=40, help="asked of an idle process, and beside the sync")
    asked = parser.parse_args()
    parts = asked.parts or PARTS
    if unknown := set(parts) - set(PARTS):
        parser.error(f"there is no part {unknown.pop()!r}; there are {', '.join(PARTS)}")
    if "folder" in parts:
        _sync_folder.show(asked.documents, asyncio.run(_sync_folder.measure(asked.documents)))
    if "requests" in parts:
        print()
        asyncio.run(_sync_requests.measure(asked.documents))
    if "chat" in parts:
        print()
        _sync_chat.show(asyncio.run(_sync_chat.measure(asked.beside, asked.questions)))


if __name__ == "__main__":
    main()
