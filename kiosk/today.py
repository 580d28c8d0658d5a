"""What stands at the foot and comes from the machine: the time of day, and which version of the program this is."""

import time
from functools import cache
from importlib import metadata


def hours_and_minutes() -> str:
    """Give the local time of day; for people only, nothing is decided by it."""
    return time.strftime("%H:%M")


@cache
def version() -> str:
    """Give the version of the program; of one that is not installed, none."""
    try:
        return metadata.version("homologue")
    except metadata.PackageNotFoundError:
        return ""
