"""Git's objects, hashed as Git hashes them, and a forge's repository of them."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Link:
    target: str


@dataclass(frozen=True)
class Submodule:
    commit: str = "1" * 40


Content = bytes | Link | Submodule


@dataclass(frozen=True)
class Node:
    """An entry of a tree."""

    name: str
    mode: str
    kind: str
    sha: str
    size: int | None = None


@dataclass(frozen=True)
class Commit:
    sha: str
    tree: str
    at: datetime
    author: str
    parent: str | None


@dataclass
class Objects:
    """What a repository holds, by hash."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    trees: dict[str, list[Node]] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)

    def commit(self, files: Mapping[str, Content], *, at: datetime, author: str, parent: str | None) -> Commit:
        tree = self.write_tree(files)
        body = f"tree {tree}\nparent {parent}\nauthor {author} {at.timestamp():.0f}\n\nA change."
        commit = Commit(_hash("commit", body.encode()), tree, at, author, parent)
        self.commits[commit.sha] = commit
        return commit

    def write_tree(self, files: Mapping[str, Content]) -> str:
        folders: dict[str, dict[str, Content]] = {}
        nodes = []
        for path, content in files.items():
            head, _, rest = path.partition("/")
            if rest:
                folders.setdefault(head, {})[rest] = content
            else:
                nodes.append(self._file(head, content))
        nodes += [Node(name, "040000", "tree", self.write_tree(inner)) for name, inner in folders.items()]
        nodes.sort(key=lambda node: node.name + "/" * (node.kind == "tree"))
        packed = b"".join(
            f"{node.mode.lstrip('0')} {node.name}".encode() + b"\0" + bytes.fromhex(node.sha) for node in nodes
        )
        sha = _hash("tree", packed)
        self.trees[sha] = nodes
        return sha

    def walk(self, tree: str, folder: str = "") -> Iterator[tuple[str, Node]]:
        for node in self.trees[tree]:
            yield folder + node.name, node
            if node.kind == "tree":
                yield from self.walk(node.sha, f"{folder}{node.name}/")

    def last_change(self, commit: Commit, path: str) -> Commit | None:
        """Return the newest commit up to this one that gave a path another content."""
        while True:
            now = dict(self.walk(commit.tree)).get(path)
            earlier = self.commits[commit.parent] if commit.parent else None
            if now is None:
                return None
            if earlier is None or dict(self.walk(earlier.tree)).get(path) != now:
                return commit
            commit = earlier

    def _file(self, name: str, content: Content) -> Node:
        if isinstance(content, Submodule):
            return Node(name, "160000", "commit", content.commit)
        is_link = isinstance(content, Link)
        data = content.target.encode() if isinstance(content, Link) else content
        sha = _hash("blob", data)
        self.blobs[sha] = data
        return Node(name, "120000" if is_link else "100644", "blob", sha, len(data))


@dataclass
class Clock:
    """A forge's own time; whatever is done takes a ``step``."""

    now: datetime
    step: timedelta = timedelta(seconds=1)

    def tick(self) -> datetime:
        self.now += self.step
        return self.now


@dataclass(kw_only=True)
class Repository:
    """Branches, and the files that the next commit holds."""

    clock: Clock
    default_branch: str = "main"
    objects: Objects = field(default_factory=Objects)
    branches: dict[str, Commit] = field(default_factory=dict)
    files: dict[str, Content] = field(default_factory=dict)

    def commit(self, *, author: str = "Ann", branch: str = "", force: bool = False) -> Commit:
        """Commit what ``files`` holds; with ``force`` as the first commit that there is."""
        branch = branch or self.default_branch
        parent = None if force else self.branches.get(branch)
        self.branches[branch] = self.objects.commit(
            self.files,
            at=self.clock.tick().replace(microsecond=0),
            author=author,
            parent=parent.sha if parent else None,
        )
        return self.branches[branch]

    def write(self, path: str, content: str | Content | None) -> Commit:
        """Commit one file's content, or with None that it is gone."""
        if content is None:
            del self.files[path]
        else:
            self.files[path] = content.encode() if isinstance(content, str) else content
        return self.commit()


def _hash(kind: str, content: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()
