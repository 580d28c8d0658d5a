"""A disk, and what may be left on it after a power cut.

What was flushed is there: a file's content once the file was flushed, its name once the folder was. Of what was not
flushed, anything may be there and anything may be missing, in any order: single sectors of 512 or 4096 bytes of a
write; the new length of a file, filled with zeros or rubbish; a new name, an old one or none; a name without the
content, or content without the name. That is weaker than ext4, which keeps names in order, and as weak as a stick with
FAT. Data in the same sector as a write is not damaged: cards and disks promise that, and SQLite needs it.

A disk that *lies* reports a flush that it has not done: its last flush of a file then counts as none.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from tests.power.recorder import Flushed, Made, Operation, Promised, Removed, Renamed, Resized, Written

Tree = dict[str, bytes | None]
"""Content by path below the disk; None for a folder."""

Lie = Literal["none", "one", "all"]
"""Which of the last flushes did not happen: none, those of one file or folder, or all."""


@dataclass(eq=False, slots=True)
class File:
    """A file's content: `base` from before the last flush, the changes `flushed` by it, and those still `waiting`."""

    base: bytearray = field(default_factory=bytearray)
    flushed: list[tuple[int, Written | Resized]] = field(default_factory=list)
    waiting: list[tuple[int, Written | Resized]] = field(default_factory=list)


Change = dict[str, "Node | None"]
"""Names of a folder that are added or removed in one step."""


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
    """The state after all operations so far, flushed or not."""

    def __init__(self, root: str) -> None:
        self._root, self._top = root, Folder()
        self.count = 0
        """Number of operations applied."""

    def apply(self, operation: Operation) -> None:
        """Apply one more operation."""
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
        """Whether anything is not flushed; otherwise only one state is possible."""
        return any(node.waiting for node in self._nodes())

    def _nodes(self) -> Iterator[Node]:
        """Return all nodes that have a name, or may have one again after a cut."""
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

    def kept(self, fate: "Fate", lie: Lie = "none") -> Tree:
        """Return the content of the disk after a cut."""
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


def _shared(flushed: list, waiting: list, *, lies: bool) -> tuple[list, list]:  # type: ignore[type-arg]  # of files or folders
    """Return what is certainly there, and the changes that may be."""
    return ([], [*flushed, *waiting]) if lies else (flushed, waiting)


SECTORS: Final = (512, 4096)


class Fate:
    """Decides at random which unflushed changes survive a cut."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self._writes, self._names = chance.choice((0, 0.1, 0.5, 0.9, 1)), chance.choice((0, 0.5, 0.9, 1))
        self._torn = chance.choice((0, 0.3, 1))
        self._sector = chance.choice(SECTORS)
        self._grown: Callable[[int], bytes] | None = chance.choice((None, bytes, chance.randbytes))
        self._named: dict[int, bool] = {}

    def keeps_name(self, at: int) -> bool:
        """Return whether a change of names survived. A renaming across two folders survives in both or in neither."""
        return self._named.setdefault(at, self.chance.random() < self._names)

    def parts(self, _: int, change: Written | Resized, length: int) -> Iterator[Written | Resized]:
        """Yield the parts of a change that survived, for a file of the given length."""
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
    """No unflushed change survived."""

    def __init__(self) -> None:
        super().__init__(random.Random(0))
        self._writes, self._names, self._grown = 0, 0, None


class Everything(Nothing):
    """All changes survived: a process was killed, but the machine ran on."""

    def __init__(self) -> None:
        super().__init__()
        self._writes, self._names, self._torn = 1, 1, 0


class UpTo(Everything):
    """All changes up to one operation survived, and some sectors of the next write."""

    def __init__(self, last: int, chance: random.Random) -> None:
        super().__init__()
        self._last, self.chance, self._sector = last, chance, chance.choice(SECTORS)

    def keeps_name(self, at: int) -> bool:
        """Return whether the change came before that operation."""
        return at <= self._last

    def parts(self, at: int, change: Written | Resized, length: int) -> Iterator[Written | Resized]:  # noqa: ARG002 - a fate has it
        """Yield the whole change if it came before that operation."""
        if at < self._last or (at == self._last and isinstance(change, Resized)):
            yield change
        elif at == self._last and isinstance(change, Written):
            yield from self._sectors(change)


def fates(chance: random.Random, at: int, count: int) -> Iterator[Fate]:
    """Yield outcomes of a cut after `count` operations, the simple ones first."""
    yield from (Nothing(), Everything())[:count]
    for number in range(count - 2):
        yield UpTo(at - chance.randrange(1, 12), chance) if number % 3 == 2 else Fate(chance)
