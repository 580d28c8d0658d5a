"""The program that a table's supervisor starts: it chooses a version of the kiosk, and replaces itself with it.

This file runs in the environment installed by apt, and an upgrade never replaces it. It imports no third-party library,
so a damaged slot cannot keep it from starting. A new version is on trial: each start is counted on disk before it
begins. If the version has not confirmed itself before a fourth start, the previous one is started (as RAUC and Mender
do in the boot loader).
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
"""File in a slot that is written last and names the bundle in it."""

MOST_STARTS: Final = 3
"""Maximum number of starts of a version that has not confirmed itself."""

FAILURES_ENV: Final = "HOMOLOGUE_FAILURES"
"""Environment variable with the number of times in a row that the program has exited right after its start."""

MOST_FAILURES: Final = 5
"""Failures in a row after which a confirmed version, which may be damaged on the card, alternates with apt's own."""

SLOTS_ENV: Final = "HOMOLOGUE_SLOTS"
BASE_ENV: Final = "HOMOLOGUE_BASE"
"""Environment variables that tell the program where its slots are, and which version apt has installed."""


@dataclass(frozen=True)
class Slots:
    """The choice of version to start; None is apt's own. Stored in one file that is written atomically."""

    slot: str | None = None
    former: str | None = None
    """The slot that is started again if the trial fails."""
    trial: bool = False
    starts: int = 0
    base: str = ""
    """The version installed by apt when this was written. Once apt installs another, that is started instead."""
    failed: str = ""
    """Hash of the bundle that did not confirm itself."""

    def reverted(self, bundle: str) -> "Slots":
        """Return the choice after the trial of a bundle has failed."""
        return replace(self, slot=self.former, former=None, trial=False, starts=0, failed=bundle)


def read_slots(folder: Path) -> Slots:
    """Return the stored choice, or apt's own version if it cannot be read."""
    try:
        stored = Slots(**json.loads((folder / STATE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return Slots()
    return stored if {stored.slot, stored.former} <= {None, *SLOTS} and isinstance(stored.starts, int) else Slots()


def write_slots(folder: Path, slots: Slots) -> None:
    """Store the choice. Raises OSError."""
    write_file(folder / STATE, json.dumps(asdict(slots)).encode(), 0o600)


def bundle_in(slot: Path) -> str:
    """Return the hash of the complete bundle in a slot, or "" if there is none."""
    try:
        return str(json.loads((slot / COMPLETE).read_bytes())["bundle"])
    except (OSError, ValueError, TypeError, KeyError):
        return ""


def choose_slot(folder: Path, base: str, failures: int = 0) -> Path | None:
    """Return the environment to start, or None for apt's own. The start of a version on trial is counted first."""
    slots = read_slots(folder)
    fails = not slots.trial and failures >= MOST_FAILURES and failures % 2 == 1
    if slots.slot is None or slots.base != base or fails:
        return None
    if slots.trial:
        counted = replace(slots, starts=slots.starts + 1)
        slots = counted if counted.starts <= MOST_STARTS else slots.reverted(bundle_in(folder / slots.slot))
        try:
            write_slots(folder, slots)
        except OSError:  # a start that cannot be counted is not attempted
            slots = slots.reverted("")
    return folder / slots.slot if slots.slot and bundle_in(folder / slots.slot) else None


def main(arguments: list[str], state: str, base: str) -> None:
    """Replace this process with the chosen version of the program."""
    folder = Path(state) / "upgrade"
    chosen = choose_slot(folder, base, int(os.environ.get(FAILURES_ENV, "0"))) if state else None
    os.environ |= {SLOTS_ENV: str(folder) if state else "", BASE_ENV: base}
    for place in (chosen, Path(sys.prefix)):
        if place is not None:
            python = str(place / "bin" / "python3")
            with suppress(OSError):
                os.execv(python, [python, "-IXfaulthandler", str(place / "bin" / "homologue"), *arguments])
    raise SystemExit("no version of the program can be started")


if __name__ == "__main__":
    main(sys.argv[1:], os.environ.get("STATE_DIRECTORY", ""), program_version())
