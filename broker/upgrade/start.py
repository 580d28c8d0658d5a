"""What a table's supervisor starts: it chooses the version of the program, and becomes it.

apt's environment runs this file, and an upgrade never replaces it. It imports the standard library alone, so a spoilt
slot keeps nothing from starting. A new version is on trial: each start is counted, on the disk, before it begins,
and one that has not confirmed itself by the fourth is left for the version before it (as RAUC and Mender do it in the
boot loader).
"""

import json
import os
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from broker.files import write_file
from broker.version import program_version

STATE: Final = "slots.json"
SLOTS: Final = ("a", "b")
COMPLETE: Final = "complete.json"
"""In a slot, written last: which bundle it is."""

MOST_STARTS: Final = 3
"""Of a version that has not confirmed itself."""

FAILURES: Final = "HOMOLOGUE_FAILURES"
"""The environment variable that tells how often the program has ended at once, one time after another."""

MOST_FAILURES: Final = 5
"""Of a version that was kept: a card may have spoilt it since. Then it takes turns with apt's own."""

PLACE: Final = "HOMOLOGUE_SLOTS"
BASE: Final = "HOMOLOGUE_BASE"
"""The environment variables that tell the program where its slots are, and which version is apt's."""


@dataclass(frozen=True)
class Slots:
    """Which version is started; None: apt's own. One file, put in place whole: a power cut leaves it old or new."""

    slot: str | None = None
    former: str | None = None
    """What is started again if the trial fails."""
    trial: bool = False
    starts: int = 0
    base: str = ""
    """Version of apt's own when this was written: once that is another, apt's is started, and slots are none."""
    failed: str = ""
    """The bundle that did not confirm itself, by its hash."""

    def returned(self, bundle: str) -> "Slots":
        """Return what is started after a trial that has failed."""
        return replace(self, slot=self.former, former=None, trial=False, starts=0, failed=bundle)


def read_slots(folder: Path) -> Slots:
    """Return what is to be started; apt's own where that cannot be read."""
    try:
        told = Slots(**json.loads((folder / STATE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return Slots()
    return told if {told.slot, told.former} <= {None, *SLOTS} and isinstance(told.starts, int) else Slots()


def write_slots(folder: Path, slots: Slots) -> None:
    """Keep what is to be started. Raises OSError."""
    write_file(folder / STATE, json.dumps(asdict(slots)).encode(), 0o600)


def bundle_in(slot: Path) -> str:
    """Return the hash of the bundle that a slot holds, whole; empty: it holds none."""
    try:
        return str(json.loads((slot / COMPLETE).read_bytes())["bundle"])
    except (OSError, ValueError, TypeError, KeyError):
        return ""


def choose_slot(folder: Path, base: str, failures: int = 0) -> Path | None:
    """Return the environment to start, and count the start of one on trial; None: apt's own."""
    slots = read_slots(folder)
    fails = not slots.trial and failures >= MOST_FAILURES and failures % 2 == 1
    if slots.slot is None or slots.base != base or fails:
        return None
    if slots.trial:
        tried = replace(slots, starts=slots.starts + 1)
        slots = tried if tried.starts <= MOST_STARTS else slots.returned(bundle_in(folder / slots.slot))
        try:
            write_slots(folder, slots)
        except OSError:  # what cannot be counted is not tried
            slots = slots.returned("")
    return folder / slots.slot if slots.slot and bundle_in(folder / slots.slot) else None


def main(arguments: list[str], state: str, base: str) -> None:
    """Become the program."""
    folder = Path(state) / "upgrade"
    chosen = choose_slot(folder, base, int(os.environ.get(FAILURES, "0"))) if state else None
    os.environ |= {PLACE: str(folder) if state else "", BASE: base}
    for place in (chosen, Path(sys.prefix)):
        if place is not None:
            python = str(place / "bin" / "python3")
            with suppress(OSError):
                os.execv(python, [python, "-IXfaulthandler", str(place / "bin" / "homologue"), *arguments])
    raise SystemExit("no version of the program can be started")


if __name__ == "__main__":
    main(sys.argv[1:], os.environ.get("STATE_DIRECTORY", ""), program_version())
