"""The version of the program, as it is shown to people and sent in messages."""

from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

COMMIT: Final = Path(__file__).with_name("commit.txt")
"""Written when the program is built or set up: `[tool.setuptools_scm]` in pyproject.toml."""


@cache
def program_version() -> str:
    """Return the version of the program, or "" if it is not installed."""
    try:
        return metadata.version("homologue")
    except metadata.PackageNotFoundError:
        return ""


def version_and_commit(file: Path = COMMIT) -> str:
    """Return the version and, if known, the commit from which it was built: `0.1.0 (24fdebe18970)`."""
    try:
        commit = file.read_text(encoding="ascii").strip().removeprefix("g")[:12]
    except (OSError, UnicodeDecodeError):
        commit = ""
    return f"{program_version()} ({commit})" if commit not in {"", "None"} else program_version()
