"""The version of the program: shown to people, and said on the wire."""

from functools import cache
from importlib import metadata


@cache
def program_version() -> str:
    """Return the version of the program; of one that is not installed, none."""
    try:
        return metadata.version("homologue")
    except metadata.PackageNotFoundError:
        return ""
