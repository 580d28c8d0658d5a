"""Findings of `homologue doctor`, how they are printed, and the bundle that is sent to whoever helps.

A bundle is made only of texts that should hold no secret. As a second safeguard, every word found in a secret file of
the folder is removed from them.
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

from broker.console import FILE, amount, json_option
from broker.files import PRIVATE, write_if_same_kind
from broker.version import program_version


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, or merely odd if nothing `must` be done: what it is, why it matters and what to do."""

    code: str
    what: str
    why: str
    do: str
    must: bool = True


@dataclass(frozen=True, slots=True)
class Examined:
    """The result of an examination. `parts` names each examined part; any other part may still have problems."""

    parts: tuple[str, ...]
    findings: tuple[Finding, ...]

    def as_object(self) -> dict[str, object]:
        """Return the result as a JSON object."""
        return {"looked": list(self.parts), "findings": [asdict(finding) for finding in self.findings]}


def result_lines(examined: Examined) -> Iterator[str]:
    """Return the result as lines of text, beginning with what must be done."""
    for finding in sorted(examined.findings, key=lambda finding: not finding.must):
        yield f"{'!' if finding.must else '-'} {finding.what} [{finding.code}]"
        yield f"    why: {finding.why}"
        yield f"    do:  {finding.do}"
    count = sum(finding.must for finding in examined.findings)
    yield f"examined: {', '.join(examined.parts)}"
    yield f"{amount(count, 'problem')} to fix" if count else "nothing to do"


def print_result(examined: Examined, *, as_json: bool) -> int:
    """Print the result, and return the exit code: 1 if something must be done."""
    click.echo(json.dumps(examined.as_object(), ensure_ascii=False) if as_json else "\n".join(result_lines(examined)))
    return 1 if any(finding.must for finding in examined.findings) else 0


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
"""A word long enough to be a secret, or a part of one."""

TAKEN_OUT: Final = "[taken out]"
LARGEST_SECRET: Final = 4_000_000
LOG_LINES: Final = 5_000


def secret_words(folders: Iterable[Path]) -> set[str]:
    """Return all words in the secret files of these folders, lines of keys included."""
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
    """Return a text in which these words are replaced, the longest first."""
    for word in sorted(secrets, key=len, reverse=True):
        text = text.replace(word, TAKEN_OUT)
    return text


def versions() -> dict[str, str]:
    """Return the versions of Homologue, Python, the operating system and all installed packages."""
    packages = sorted({package.metadata["Name"]: package.version for package in distributions()}.items())
    system = {"homologue": program_version(), "python": platform.python_version(), "system": platform.platform()}
    return {**system, **dict(packages)}


def journal_of_units() -> str:
    """Return the last lines that our units have logged in systemd's journal, or "" if it cannot be read."""
    command = ["journalctl", "--no-pager", "--output=short-iso", f"--lines={LOG_LINES}", "--unit=homologue-*"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout


def write_bundle(path: Path, examined: Examined, files: Mapping[str, str], secret_folders: Iterable[Path]) -> None:
    """Write the bundle for whoever helps, readable only by its owner. Raises as `write_if_same_kind`.

    `files`: additional texts, by file name.
    """
    texts = {
        "findings.json": json.dumps(examined.as_object(), ensure_ascii=False, indent=2),
        "findings.txt": "\n".join(result_lines(examined)),
        "versions.json": json.dumps(versions(), indent=2),
        "log.txt": journal_of_units(),
        **files,
    }
    secrets = secret_words(secret_folders)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in texts.items():
            packed.writestr(name, without_secrets(text, secrets))
    write_if_same_kind(path, content.getvalue(), PRIVATE)
