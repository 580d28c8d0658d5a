"""A disk, and what is left on it when the power goes.

What was flushed is there: a file's content by a flush of the file, its name by a flush of the folder. Of what was not,
anything may be there and anything may be missing, in any order: of a write single sectors of 512 or 4096 bytes; of a
file that grew its length with zeros or rubbish in it; a new name, an old one or none; a name without the content and
content without the name. That is weaker than what ext4 promises (names are in order there) and as weak as a stick with
FAT. What lies in one sector beside what is written is not harmed: cards and disks promise that, and SQLite needs it.

A disk that *lies* says that it has flushed, and has not: its last flush of a file counts as none.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from tests.power.recorder import Flushed, Made, Operation, Promised, Removed, Renamed, Resized, Written

Tree = dict[str, bytes | None]
"""Paths below the disk; None: a folder."""

Lie = Literal["none", "one", "all"]
"""Which of the last flushes never happened: none, those of one file or folder, or everybody's."""


@dataclass(eq=False, slots=True)
class File:
    """A file's content: `base` was flushed before the last flush, `flushed` by it, `waiting` not yet."""

    base: bytearray = field(default_factory=bytearray)
    flushed: list[tuple[int, Written | Resized]] = field(default_factory=list)
    waiting: list[tuple[int, Written | Resized]] = field(default_factory=list)


Change = dict[str, "Node | None"]
"""Names of a folder that are given or taken away in one step."""


@dataclass(eq=False, slots=True)
class Folder:
    """A folder's names, likewise; `names` are those that programs see."""

    names: dict[str, "Node"] = field(default_factory=dict)
    base: dict[str, "Node"] = field(default_factory=dict)
    flushed: list[tuple[int, Change]] = field(default_factory=list)
    waiting: list[tuple[int, Change]] = field(default_factory=list)


Node = File | Folder


def _put(content: bytearray, change: Written | Resized) -> None:
    match change:
        case Written(_, offset, data):
            content.extend(bytes(max(0, offset - len(content))))
            content[offset : offset + len(data)] = data
        case Resized(_, size):
            del content[size:]
            content.extend(bytes(size - len(content)))


def _name(names: dict[str, Node], change: Change) -> None:
    for name, node in change.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


class Disk:
    """What the operations up to now have left, flushed and not."""

    def __init__(self, root: str) -> None:
        self._root, self._top = root, Folder()
        self.count = 0
        """How many operations were done."""

    def apply(self, operation: Operation) -> None:
        """Do one operation more."""
        match operation:
            case Made(path, folder):
                self._rename({path: Folder() if folder else File()})
            case Written(path) | Resized(path):
                node = self._node(path)
                assert isinstance(node, File)
                node.waiting.append((self.count, operation))
            case Renamed(path, new):
                self._rename({path: None, new: self._node(path)})
            case Removed(path):
                self._rename({path: None})
            case Flushed(path, covers):
                self._flush(self._node(path), covers)
            case Promised():
                pass
        self.count += 1

    def _parts(self, path: str) -> list[str]:
        return [part for part in path.removeprefix(self._root).split("/") if part]

    def _node(self, path: str) -> Node:
        node: Node = self._top
        for part in self._parts(path):
            assert isinstance(node, Folder)
            node = node.names[part]
        return node

    def _rename(self, changes: dict[str, Node | None]) -> None:
        by_folder: dict[str, Change] = {}
        for path, node in changes.items():
            folder, _, name = path.rpartition("/")
            by_folder.setdefault(folder, {})[name] = node
        for path, change in by_folder.items():
            parent = self._node(path)
            assert isinstance(parent, Folder)
            _name(parent.names, change)
            parent.waiting.append((self.count, change))

    def _flush(self, node: Node, covers: int) -> None:
        if isinstance(node, File):
            for _, written in node.flushed:
                _put(node.base, written)
            node.flushed = [one for one in node.waiting if one[0] < covers]
            node.waiting = [one for one in node.waiting if one[0] >= covers]
            return
        for _, change in node.flushed:
            _name(node.base, change)
        node.flushed = [one for one in node.waiting if one[0] < covers]
        node.waiting = [one for one in node.waiting if one[0] >= covers]

    @property
    def waits(self) -> bool:
        """Whether there is anything that is not flushed: else there is one state only."""
        return any(node.waiting for node in self._nodes())

    def _nodes(self) -> Iterator[Node]:
        """Return all that have a name, or may have one again after a cut."""
        seen: set[int] = set()
        found: list[Node] = [self._top]
        while found:
            node = found.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            if isinstance(node, Folder):
                found += node.names.values()
                found += node.base.values()
                for _, change in (*node.flushed, *node.waiting):
                    found += [one for one in change.values() if one is not None]

    # ---- after a cut ------------------------------------------------------------------------

    def kept(self, fate: "Fate", lie: Lie = "none") -> Tree:
        """Return what is on the disk after a cut."""
        liars: set[int] = set()
        if lie == "all":
            liars = {id(node) for node in self._nodes()}
        elif lie == "one":
            flushed = [node for node in self._nodes() if node.flushed]
            liars = {id(fate.chance.choice(flushed))} if flushed else set()
        return dict(self._kept(self._top, "", fate, liars))

    def _kept(self, folder: Folder, path: str, fate: "Fate", liars: set[int]) -> Iterator[tuple[str, bytes | None]]:
        names = dict(folder.base)
        sure, open_ = _shared(folder.flushed, folder.waiting, lies=id(folder) in liars)
        for _, change in sure:
            _name(names, change)
        for at, change in open_:
            if fate.keeps_name(at):
                _name(names, change)
        for name, node in sorted(names.items()):
            whole = f"{path}{name}"
            if isinstance(node, Folder):
                yield whole, None
                yield from self._kept(node, f"{whole}/", fate, liars)
            else:
                yield whole, self._content(node, fate, lies=id(node) in liars)

    @staticmethod
    def _content(file: File, fate: "Fate", *, lies: bool) -> bytes:
        content = bytearray(file.base)
        sure, open_ = _shared(file.flushed, file.waiting, lies=lies)
        for _, change in sure:
            _put(content, change)
        for at, change in open_:
            for part in fate.parts(at, change, len(content)):
                _put(content, part)
        return bytes(content)


def _shared(flushed: list, waiting: list, *, lies: bool) -> tuple[list, list]:  # type: ignore[type-arg]  # of files and of folders
    """Return what is sure to be there, and what may be."""
    return ([], [*flushed, *waiting]) if lies else (flushed, waiting)


SECTORS: Final = (512, 4096)


class Fate:
    """What becomes of each thing that was not flushed."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self._writes, self._names = chance.choice((0, 0.1, 0.5, 0.9, 1)), chance.choice((0, 0.5, 0.9, 1))
        self._torn = chance.choice((0, 0.3, 1))
        self._sector = chance.choice(SECTORS)
        self._grown: Callable[[int], bytes] | None = chance.choice((None, bytes, chance.randbytes))
        self._named: dict[int, bool] = {}

    def keeps_name(self, at: int) -> bool:
        """Return whether a change of names came through; one in two folders did in both, or in none."""
        return self._named.setdefault(at, self.chance.random() < self._names)

    def parts(self, _: int, change: Written | Resized, length: int) -> Iterator[Written | Resized]:
        """Return what came through of a change to a file that is so long."""
        kept = self.chance.random() < self._writes
        if isinstance(change, Resized):
            if kept:
                yield change
            return
        end = change.offset + len(change.data)
        if end > length and self._grown and self.chance.random() < 0.5:
            yield Written(change.path, length, self._grown(end - length))
        if kept and self.chance.random() < self._torn:
            yield from self._sectors(change)
        elif kept:
            yield change

    def _sectors(self, change: Written) -> Iterator[Written]:
        at, end = change.offset, change.offset + len(change.data)
        while at < end:
            after = min(end, (at // self._sector + 1) * self._sector)
            if self.chance.random() < 0.5:
                yield Written(change.path, at, change.data[at - change.offset : after - change.offset])
            at = after


class Nothing(Fate):
    """Nothing came through that was not flushed."""

    def __init__(self) -> None:
        super().__init__(random.Random(0))
        self._writes, self._names, self._grown = 0, 0, None


class Everything(Nothing):
    """Everything came through: a process was killed, and the machine ran on."""

    def __init__(self) -> None:
        super().__init__()
        self._writes, self._names, self._torn = 1, 1, 0


class UpTo(Everything):
    """Everything came through up to one operation; of the next write some sectors."""

    def __init__(self, last: int, chance: random.Random) -> None:
        super().__init__()
        self._last, self.chance, self._sector = last, chance, chance.choice(SECTORS)

    def keeps_name(self, at: int) -> bool:
        """Return whether it came before."""
        return at <= self._last

    def parts(self, at: int, change: Written | Resized, length: int) -> Iterator[Written | Resized]:  # noqa: ARG002 - a fate has it
        """Return all of what came before."""
        if at < self._last or (at == self._last and isinstance(change, Resized)):
            yield change
        elif at == self._last and isinstance(change, Written):
            yield from self._sectors(change)


def fates(chance: random.Random, at: int, count: int) -> Iterator[Fate]:
    """Return so many ways in which the power can go after an operation: the plain ones first."""
    yield from (Nothing(), Everything())[:count]
    for number in range(count - 2):
        yield UpTo(at - chance.randrange(1, 12), chance) if number % 3 == 2 else Fate(chance)
