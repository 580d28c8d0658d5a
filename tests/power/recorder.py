"""Record the system calls with which a process writes, and what it promises meanwhile.

The calls are read from strace: it misses nothing that a library does by itself, and it can kill the process at any
given flush. A preloaded library would see only calls through the C library's symbols, and would be C code to maintain.
Promises to people or other machines are written to a file of their own, so that the kernel puts them in order with the
other writes.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]

PROMISES: Final = "promises"
"""The file into which a process writes its promises, beside its disk."""
DISK: Final = "disk"

CALLS: Final = (
    *("open", "openat", "openat2", "creat", "close", "lseek", "dup", "dup2", "dup3", "mmap", "msync"),
    *("write", "pwrite64", "writev", "pwritev", "pwritev2", "sendfile", "copy_file_range", "splice"),
    *("truncate", "ftruncate", "fallocate", "fsync", "fdatasync", "sync_file_range", "sync", "syncfs"),
    *("rename", "renameat", "renameat2", "link", "linkat", "symlink", "symlinkat", "unlink", "unlinkat"),
    *("mkdir", "mkdirat", "rmdir"),
)


@dataclass(frozen=True, slots=True)
class Made:
    """A name for a new file or folder."""

    path: str
    folder: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """Bytes written to a file."""

    path: str
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Resized:
    """A file's new length."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Renamed:
    """A renamed file or folder; what had the new name before loses it."""

    path: str
    new: str


@dataclass(frozen=True, slots=True)
class Removed:
    """A name that was removed."""

    path: str


@dataclass(frozen=True, slots=True)
class Flushed:
    """A flush of a file's content or a folder's names, as they were after so many operations."""

    path: str
    covers: int


@dataclass(frozen=True, slots=True)
class Promised:
    """A promise."""

    said: dict[str, Any]


Operation = Made | Written | Resized | Renamed | Removed | Flushed | Promised


def promise(folder: Path) -> Callable[..., None]:
    """Return the operations of writes and promises, in order."""
    handle = os.open(folder / PROMISES, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(kind: str, **said: object) -> None:
        os.write(handle, json.dumps({"kind": kind, **said}).encode() + b"\n")

    return tell


def record(command: Sequence[str], folder: Path, kill_at: Sequence[int] = ()) -> list[Operation]:
    """Run a writer on `folder`/disk until it ends; before that, once for each number, until that flush kills it."""
    (folder / DISK).mkdir()
    reader = _Reader(str(folder))
    for number in (*kill_at, None):
        log = folder / "calls"
        kill = () if number is None else (f"--inject=fsync,fdatasync:signal=SIGKILL:when={number}",)
        traced = ("strace", "-f", "-y", "-xx", "-s", str(2**26), "-e", f"trace={','.join(CALLS)}", "-o", str(log))
        done = subprocess.run(
            [*traced, *kill, sys.executable, "-m", *command, str(folder)],
            cwd=ROOT,
            env={**os.environ, "SDL_VIDEODRIVER": "dummy"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in ({0} if number is None else {0, 137, -9}):
            raise RuntimeError(f"{' '.join(command)}: {done.returncode}\n{done.stderr[-3000:]}")
        if not log.exists():
            raise RuntimeError(f"{' '.join(command)}: strace has written nothing\n{done.stderr[-3000:]}")
        with log.open("rb") as lines:
            reader.read(lines)
        log.unlink()
    return reader.operations


_HEX: Final = re.compile(rb"(?:\\x[0-9a-f]{2})+")
_LINE: Final = re.compile(rb"(\d+) +(?:<\.\.\. (\w+) resumed>(.*)|(\w+)\((.*))", re.DOTALL)
_UNFINISHED: Final = b" <unfinished ...>"
_RESULT: Final = re.compile(rb"^(.*)\) += (-?\d+|\?)(?:<(.*)>)?(?: [^<>]*)?$", re.DOTALL)
_HANDLE: Final = re.compile(rb"^(AT_FDCWD|\d+)(?:<(.*)>(\(deleted\))?)?$")


def _text(said: bytes) -> bytes:
    return bytes.fromhex(said.replace(b"\\x", b"").decode())


def _string(argument: bytes) -> bytes:
    return _text(argument.strip(b'"'))


@dataclass
class _Reader:
    """Parses strace's lines of one writer's runs."""

    folder: str
    operations: list[Operation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._disk = f"{self.folder}/{DISK}"
        self._files: dict[str, bytearray] = {}
        """The files' contents as the processes themselves see them."""
        self._folders = {self._disk}
        self._at: dict[int, int] = {}
        """The position of each open file."""

    def read(self, lines: Iterator[bytes]) -> None:
        """Read the log of one run."""
        self._at.clear()
        begun: dict[bytes, tuple[bytes, int]] = {}
        for line in lines:
            match = _LINE.match(line.rstrip(b"\n"))
            if match is None:
                continue  # a signal, or an exit
            process, _, rest, name, said = match.groups()
            started = len(self.operations)
            if said is not None and said.endswith(_UNFINISHED):
                begun[process] = name + b"(" + said.removesuffix(_UNFINISHED), started
                continue
            if rest is not None:
                whole, started = begun.pop(process)
                name, _, said = (whole + rest).partition(b"(")
            result = _RESULT.match(said)
            if result is not None and result[2] != b"?" and int(result[2]) >= 0:
                self._call(name.decode(), result[1].split(b", "), int(result[2]), started)

    def _call(self, name: str, said: list[bytes], result: int, started: int) -> None:
        handler = getattr(self, f"_{name}", None)
        if handler is not None:
            handler(said, result, started)
        elif any(self._ours(_string(one).decode() if one.startswith(b'"') else self._path_of(one)) for one in said):
            raise NotImplementedError(f"{name} on {self._disk}")

    def _ours(self, path: str | None) -> bool:
        return path is not None and path.startswith(self._disk) and not path.endswith("-shm")

    @staticmethod
    def _path_of(argument: bytes) -> str | None:
        """Return the path of a file descriptor; None if it has none, or the file was removed."""
        match = _HANDLE.match(argument)
        return _text(match[2]).decode() if match and match[2] and _HEX.fullmatch(match[2]) and not match[3] else None

    @staticmethod
    def _number(argument: bytes) -> int:
        match = _HANDLE.match(argument)
        assert match is not None, argument
        return int(match[1])

    def _joined(self, folder: bytes, name: bytes) -> str:
        return os.path.normpath(os.path.join(self._path_of(folder) or "/", _string(name).decode()))  # noqa: PTH118 - no file of this process's

    def _openat(self, said: list[bytes], result: int, _: int) -> None:
        self._opened(self._joined(said[0], said[1]), said[2], result)

    def _opened(self, path: str, how: bytes, handle: int) -> None:
        flags = set(how.split(b"|"))
        self._at[handle] = 0
        if not self._ours(path):
            return
        if b"O_TMPFILE" in flags:
            raise NotImplementedError("O_TMPFILE")
        if b"O_CREAT" in flags and path not in self._files:
            self._files[path] = bytearray()
            self.operations.append(Made(path))
        elif b"O_TRUNC" in flags and self._files.get(path):
            self._resize(path, 0)
        if b"O_APPEND" in flags:
            self._at[handle] = -1

    def _symlink(self, said: list[bytes], result: int, started: int) -> None:
        self._symlinkat([said[0], b"AT_FDCWD", *said[1:]], result, started)

    def _symlinkat(self, said: list[bytes], _: int, __: int) -> None:
        """Symbolic links are treated as small files, which come and go together with their names."""
        path = self._joined(said[1], said[2])
        if self._ours(path):
            self._files[path] = bytearray()
            self.operations.append(Made(path))

    def _mkdir(self, said: list[bytes], result: int, started: int) -> None:
        self._mkdirat([b"AT_FDCWD", *said], result, started)

    def _mkdirat(self, said: list[bytes], _: int, __: int) -> None:
        path = self._joined(said[0], said[1])
        if self._ours(path):
            self._folders.add(path)
            self.operations.append(Made(path, folder=True))

    def _rename(self, said: list[bytes], _: int, __: int) -> None:
        self._renamed(self._joined(b"AT_FDCWD", said[0]), self._joined(b"AT_FDCWD", said[1]))

    def _renameat(self, said: list[bytes], _: int, __: int) -> None:
        self._renamed(self._joined(said[0], said[1]), self._joined(said[2], said[3]))

    def _renameat2(self, said: list[bytes], _: int, __: int) -> None:
        if said[4].strip() not in {b"0", b"RENAME_NOREPLACE"}:
            raise NotImplementedError("an exchange of names")
        self._renamed(self._joined(said[0], said[1]), self._joined(said[2], said[3]))

    def _renamed(self, path: str, new: str) -> None:
        if self._ours(path) != self._ours(new):
            raise NotImplementedError("a name that leaves the disk")
        if not self._ours(path):
            return
        for one in [known for known in self._files if known == path or known.startswith(f"{path}/")]:
            self._files[new + one.removeprefix(path)] = self._files.pop(one)
        self._folders = {
            new + one.removeprefix(path) if one == path or one.startswith(f"{path}/") else one for one in self._folders
        }
        self.operations.append(Renamed(path, new))

    def _unlink(self, said: list[bytes], _: int, __: int) -> None:
        self._removed(self._joined(b"AT_FDCWD", said[0]))

    def _unlinkat(self, said: list[bytes], _: int, __: int) -> None:
        self._removed(self._joined(said[0], said[1]))

    _rmdir = _unlink

    def _removed(self, path: str) -> None:
        if self._ours(path):
            self._files.pop(path, None)
            self._folders.discard(path)
            self.operations.append(Removed(path))

    def _write(self, said: list[bytes], result: int, _: int) -> None:
        path, data = self._path_of(said[0]), _string(said[1])[:result]
        if path == f"{self.folder}/{PROMISES}":
            self.operations.append(Promised(json.loads(data)))
        self._appended(said[0], path, data)

    def _appended(self, handle: bytes, path: str | None, data: bytes) -> None:
        """Write at the position of the open file."""
        number = self._number(handle)
        at = self._at.get(number, 0)
        if path is not None and self._ours(path):
            self._store(path, len(self._files[path]) if at < 0 else at, data)
        if at >= 0:
            self._at[number] = at + len(data)

    def _pwrite64(self, said: list[bytes], result: int, _: int) -> None:
        path = self._path_of(said[0])
        if path is not None and self._ours(path):
            self._store(path, int(said[3]), _string(said[1])[:result])

    def _writev(self, said: list[bytes], result: int, _: int) -> None:
        parts = re.findall(rb'iov_base="((?:\\x[0-9a-f]{2})*)"', b", ".join(said[1:]))
        self._appended(said[0], self._path_of(said[0]), b"".join(map(_text, parts))[:result])

    def _sendfile(self, said: list[bytes], result: int, _: int) -> None:
        """Copy from one file to another within the kernel."""
        target, source = self._path_of(said[0]), self._path_of(said[1])
        match = re.match(rb"\[(\d+)\]", said[2])
        start = int(match[1]) if match else self._at.get(self._number(said[1]), 0)
        if not match:
            self._at[self._number(said[1])] = start + result
        if target is None or not self._ours(target):
            return
        assert source is not None
        content = self._files[source] if source in self._files else Path(source).read_bytes()
        self._appended(said[0], target, bytes(content[start : start + result]))

    def _store(self, path: str, offset: int, data: bytes) -> None:
        content = self._files[path]
        if len(content) < offset:
            content.extend(bytes(offset - len(content)))
        content[offset : offset + len(data)] = data
        self.operations.append(Written(path, offset, data))

    def _ftruncate(self, said: list[bytes], _: int, __: int) -> None:
        path = self._path_of(said[0])
        if path is not None and self._ours(path):
            self._resize(path, int(said[1]))

    def _resize(self, path: str, size: int) -> None:
        content = self._files[path]
        del content[size:]
        content.extend(bytes(size - len(content)))
        self.operations.append(Resized(path, size))

    def _lseek(self, said: list[bytes], result: int, _: int) -> None:
        if self._at.get(self._number(said[0]), 0) >= 0:
            self._at[self._number(said[0])] = result

    def _close(self, said: list[bytes], _: int, __: int) -> None:
        self._at.pop(self._number(said[0]), None)

    def _mmap(self, said: list[bytes], _: int, __: int) -> None:
        path = self._path_of(said[4])
        if self._ours(path) and b"MAP_SHARED" in said[3] and b"PROT_WRITE" in said[2]:
            raise NotImplementedError(f"{path} is written through memory")

    def _fsync(self, said: list[bytes], _: int, started: int) -> None:
        path = self._path_of(said[0])
        if path is not None and self._ours(path):
            self.operations.append(Flushed(path, started))

    _fdatasync = _fsync

    def _sync(self, _said: list[bytes], _: int, started: int) -> None:
        """Flush everything."""
        self.operations += [Flushed(path, started) for path in (*self._files, *self._folders)]
