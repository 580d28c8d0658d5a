"""What `homologue doctor` finds, how it is told, and the bundle that is sent to whoever helps.

A bundle is made of what cannot hold a secret; beside that, whatever stands in a secret file of the folder is taken out
of every text that goes into it.
"""

import io
import json
import platform
import re
import subprocess
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

import click

from broker.console import FILE, json_option
from broker.files import PRIVATE, write_whole
from broker.version import program_version


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong (or, where nothing `must` be done, odd): what it is, why it matters, what to do."""

    code: str
    what: str
    why: str
    do: str
    must: bool = True


@dataclass(frozen=True, slots=True)
class Examined:
    """What was looked at, and what was found: `looked` names each part, so that nothing is thought well by silence."""

    looked: tuple[str, ...]
    findings: tuple[Finding, ...]

    def as_object(self) -> dict[str, object]:
        """Return it for JSON."""
        return {"looked": list(self.looked), "findings": [asdict(one) for one in self.findings]}


def lines_of(examined: Examined) -> Iterator[str]:
    """Return it as lines of text, what must be done first."""
    for one in sorted(examined.findings, key=lambda one: not one.must):
        yield f"{'!' if one.must else '-'} {one.what} [{one.code}]"
        yield f"    why: {one.why}"
        yield f"    do:  {one.do}"
    count = sum(one.must for one in examined.findings)
    yield f"looked at: {', '.join(examined.looked)}"
    yield f"{count} to be done" if count else "nothing has to be done"


def tell(examined: Examined, *, as_json: bool) -> int:
    """Print it; return the exit code: 1 where something must be done."""
    click.echo(json.dumps(examined.as_object(), ensure_ascii=False) if as_json else "\n".join(lines_of(examined)))
    return 1 if any(one.must for one in examined.findings) else 0


JSON_OPTION: Final = json_option()
BUNDLE_OPTION: Final = click.option(
    "--bundle",
    type=FILE,
    help="Write findings, versions, configuration and logs, without secrets, into this ZIP file.",
)

SECRET_NAMES: Final = (
    *("*.key", "*.pem", "*.password", "*password*", "credentials.json", "first-link.txt", "arbiter-pin*"),
    *("deals.json", "sets.json", "hands.json", "par.json", "words.json", "draws.json", "shares.json", "desk", "scorer"),
)
"""Names of files that hold secrets, in an event's folder or a table's."""

WORD: Final = re.compile(rb"[A-Za-z0-9+/_=.$-]{12,}")
"""What may be a secret, or a part of one."""

TAKEN_OUT: Final = "[taken out]"
LARGEST_SECRET: Final = 4_000_000
LOG_LINES: Final = 5_000


def secret_words(folders: Iterable[Path]) -> set[str]:
    """Return whatever stands in files with secrets, in words; lines of keys too."""
    found: set[str] = set()
    for folder in folders:
        for path in folder.rglob("*") if folder.is_dir() else ():
            if path.is_file() and any(path.match(name) for name in SECRET_NAMES):
                try:
                    content = path.read_bytes()[:LARGEST_SECRET]
                except OSError:
                    continue
                found |= {word.decode() for word in WORD.findall(content)}
    return found - PUBLIC_WORDS


PUBLIC_WORDS: Final = frozenset({"-----BEGIN", "-----END", "CERTIFICATE-----", "PRIVATE"})


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Return a text without these words, the longest first."""
    for word in sorted(secrets, key=len, reverse=True):
        text = text.replace(word, TAKEN_OUT)
    return text


def versions() -> dict[str, str]:
    """Return the versions of what runs here."""
    packages = sorted({one.metadata["Name"]: one.version for one in distributions()}.items())
    system = {"homologue": program_version(), "python": platform.python_version(), "system": platform.platform()}
    return {**system, **dict(packages)}


def journal_of_units() -> str:
    """Return the last lines that our units have logged, where systemd keeps them."""
    command = ["journalctl", "--no-pager", "--output=short-iso", f"--lines={LOG_LINES}", "--unit=homologue-*"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.stdout


def write_bundle(path: Path, examined: Examined, files: Mapping[str, str], secret_folders: Iterable[Path]) -> None:
    """Write everything for whoever helps, readable by its owner alone. Raises as `write_whole`.

    `files`: further texts, by name.
    """
    texts = {
        "findings.json": json.dumps(examined.as_object(), ensure_ascii=False, indent=2),
        "findings.txt": "\n".join(lines_of(examined)),
        "versions.json": json.dumps(versions(), indent=2),
        "log.txt": journal_of_units(),
        **files,
    }
    secrets = secret_words(secret_folders)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in texts.items():
            packed.writestr(name, without_secrets(text, secrets))
    write_whole(path, content.getvalue(), PRIVATE)
