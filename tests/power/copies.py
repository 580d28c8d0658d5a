"""Copies of an event on a USB stick, and an event restored from one."""

import random
from contextlib import closing
from pathlib import Path

from broker.errors import BackupBroken, BackupMissing, StoreError
from broker.event import save_event
from broker.people.copies import copy_people
from broker.store import STORE, open_journal
from broker.store.backup import check_copy, choose_copy, copy_names, make_copy, read_manifest, restore_copy
from tests.broker.scorer.small import NAME, deals, plan, registry, whole_event
from tests.power.subject import Cut, Outcome, Subject, Tell

NOW = 1_800_000_000_000
KEEP = 2
ROUNDS = 5


def filled(event: Path, upto: int) -> None:
    """Add messages to an event's journal up to a height."""
    with closing(open_journal(event, NAME)) as journal, journal.commit():
        for message in whole_event()[journal.height : upto]:
            journal.append(message, 0)


def made_event(disk: Path) -> Path:
    """Return an event's folder that contains a file in a subfolder."""
    event = disk / "cup"
    if not (event / "event.toml").exists():
        save_event(event, plan(), deals(), registry())
        (event / "profiles").mkdir(exist_ok=True)
        (event / "profiles" / "house.toml").write_text("house = 1\n", encoding="utf-8")
    return event


def copy(disk: Path, seed: int, tell: Tell) -> None:
    """Copy a growing event repeatedly onto a stick that holds few copies."""
    chance, stick = random.Random(seed), disk / "stick"
    event = made_event(disk)
    stick.mkdir(exist_ok=True)
    tell("stick")
    for round_ in range(ROUNDS):
        filled(event, (round_ + 1) * chance.randint(5, 12))
        copied = make_copy(event, NAME, stick, NOW + round_, KEEP, (copy_people,))
        tell("copied", name=copied.name, height=read_manifest(copied).height)


def check_copies(cut: Cut, outcome: Outcome) -> None:
    """Check that each copy on the stick is whole or absent, and that the last reported one exists."""
    stick = cut.disk / "stick"
    if not cut.before("stick"):
        return
    if not stick.is_dir():
        return  # the stick's root folder is not promised
    for name in copy_names(path.name for path in stick.iterdir()):
        try:
            check_copy(stick / name)
        except BackupBroken as broken:
            outcome.must(cut.lie != "none", f"a copy is not whole: {broken}")
            outcome.notes[broken.code] += 1
    height = max((one["height"] for one in cut.before("copied")), default=0)
    try:
        _, manifest, _ = choose_copy(stick, NAME)
        if cut.lie == "none":
            outcome.must(manifest.height >= height, f"the newest copy has {manifest.height} messages of {height}")
        else:
            outcome.notes["an older copy is the newest whole one"] += manifest.height < height
    except BackupMissing as missing:
        outcome.must(not height or cut.lie != "none", f"no copy: {missing}")
        outcome.notes[missing.code] += bool(height)


def restore(disk: Path, seed: int, tell: Tell) -> None:
    """Restore a copy into new folders."""
    event, stick = made_event(disk), disk / "stick"
    filled(event, 10 + seed % 20)
    stick.mkdir()
    copied = make_copy(event, NAME, stick, NOW, KEEP)
    with closing(open_journal(event, NAME)) as journal:
        tell("copied", height=journal.height, store=journal.store, files=[*read_manifest(copied).files])
    for number in range(3):
        new = disk / "events" / f"restored-{number}"
        restore_copy(*choose_copy(stick, NAME)[:2], new)
        tell("restored", folder=str(new.relative_to(disk)))


def check_restored(cut: Cut, outcome: Outcome) -> None:
    """Check that a restored folder is the event with another store, or no event at all."""
    for copied in cut.before("copied"):
        told = {one["folder"] for one in cut.before("restored")}
        for new in sorted({*told, *(f"events/restored-{number}" for number in range(3))}):
            folder = cut.disk / new
            if not (folder / "event.toml").exists():
                outcome.must(new not in told or cut.lie != "none", f"{new} was restored and is none")
                continue
            try:
                there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
                missing = {*copied["files"]} - there
                outcome.must(not missing or cut.lie != "none", f"{new} lacks {missing}")
                if STORE in missing:
                    continue
                with closing(open_journal(folder, NAME)) as journal:
                    found = journal.height, len([*journal.messages()])
                    other = journal.store != copied["store"]
                outcome.must(found == (copied["height"],) * 2 or cut.lie != "none", f"{new} has {found} messages")
                outcome.must(other or cut.lie != "none", f"{new} passes for the store that was copied")
            except StoreError as broken:
                outcome.must(cut.lie != "none", f"{new}: {broken.code} {broken}")
                outcome.notes[broken.code] += 1


COPIES = Subject("copies", copy, check_copies)
RESTORED = Subject("restored", restore, check_restored, kills=False)
