"""`homologue store`: backs up, verifies and restores an event, and moves its journal into a database."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from broker.cli.scorer import ADDRESS, PASSWORD, database_address
from broker.console import EXISTING_FOLDER, FOLDER, amount, json_lines, json_object, progress, say, working
from broker.errors import AnchorChanged, BackupBroken, BackupMissing, StoreMissing
from broker.event import open_event
from broker.people.anchors import CheckedAnchor, check_anchor
from broker.people.copies import copy_people, restore_people
from broker.protocol import wall_clock_ms
from broker.scorer import Concern, Verified, concerns_of_faults, read_journal, verify_store
from broker.scorer.homes import lost_since, recover_lost
from broker.store import (
    ALTERED,
    BAD_SIGNATURE,
    DESK,
    LINK_ALTERED,
    LOST,
    MANIFEST,
    MISSING,
    STORE,
    UNREADABLE_ROW,
    WRONG_POINTS,
    BackupManifest,
    DatabaseAddress,
    Fault,
    SecondHome,
    SqliteJournal,
    check_copy,
    choose_copy,
    copy_faults,
    copy_journal,
    copy_names,
    event_name,
    has_started,
    make_copy,
    open_at,
    open_journal,
    refuse_nonempty,
    restore_copy,
    write_address,
)

KEEP = click.option(
    "--keep", type=click.IntRange(min=1), default=12, show_default=True, help="Number of copies to keep."
)

SOURCE = click.argument("source", metavar="COPY|FOLDER", type=EXISTING_FOLDER)


@click.group(short_help="Back up an event, check and restore copies, move its journal into PostgreSQL.")
def store() -> None:
    """Back up, check, restore and move an event's journal. See docs/store.md."""


@store.command()
@SOURCE
@json_lines
def check_command(source: Path) -> None:
    """Check copies by reading every message. The exit code is 1 if one is damaged.

    \b
    homologue store check /media/stick
    """
    names = [source.name] if (source / MANIFEST).exists() else copy_names(_names(source))
    within = source.parent if (source / MANIFEST).exists() else source
    if not names:
        raise BackupMissing(f"{source} contains no copy")
    if not all([_check_one(within / name) for name in progress(names, "Reading copies")]):  # noqa: C419 - each of them is reported
        sys.exit(1)


FAULTS: Final = {
    ALTERED: "is not as it was written",
    LINK_ALTERED: "counts, but its link is not as it was written",
    MISSING: "is missing",
    LOST: "was there and has been lost",
    UNREADABLE_ROW: "is not a message",
    WRONG_POINTS: "has points that do not follow from its outcome",
    BAD_SIGNATURE: "is not signed by its device",
}


@store.command()
@click.argument("source", metavar="FOLDER|COPY", type=EXISTING_FOLDER)
@click.option("--anchor", help="An anchor written down earlier: check that nothing before it has changed.")
@json_object
def verify_command(source: Path, anchor: str | None) -> None:
    """Verify every row of an event's store, or of one copy. Its scorer may be running.

    This verifies the chain of rows, the points of results and the witness, and lists the rows that fail. Those do not
    count: a scorer asks the tables for them again. The exit code is 1 if there are any, or if the anchor does not
    match.

    \b
    homologue store verify my-event
    homologue store verify my-event --anchor 7K2M-9QXD-...
    """
    with working("Verifying"):
        found, checked = _verify(source, anchor)
    faults, count = [fault._asdict() for fault in found.faults], len(found.faults)
    unlinked = "" if found.has_links else ", without links: they get them when its scorer starts"
    whole = f"rows that fail verification: {count}" if count else "each as it was written"
    about = f"{source}: {found.event}, {amount(found.messages, 'message')}{unlinked}; {whole}"
    lines = [*_fault_lines(found.faults), about, *(_anchor_lines(checked) if checked else ())]
    of_anchor = {"anchor": _anchor_json(checked)} if checked else {}
    fields = {"event": found.event, "messages": found.messages, "links": found.has_links, "faults": faults}
    say("\n".join(lines), **fields, **of_anchor)
    if found.faults or (checked and not checked.holds):
        sys.exit(1)


def _verify(source: Path, anchor: str | None) -> tuple[Verified, CheckedAnchor | None]:
    if (source / MANIFEST).exists():
        check_copy(source)
    checked = None if anchor is None else check_anchor(source, anchor)
    return verify_store(source), checked


def _anchor_json(checked: CheckedAnchor) -> dict[str, object]:
    """Return the result of checking an anchor, for JSON."""
    place = checked.place._asdict() if checked.place else {"messages": None, "entries": None}
    changed = {"rows": [fault._asdict() for fault in checked.rows], "entry": checked.entry}
    return {"code": None if checked.holds else AnchorChanged.code, **place, **changed}


def _anchor_lines(checked: CheckedAnchor) -> Iterator[str]:
    """Return lines that say whether an anchor holds, and what has changed."""
    if checked.place is None:
        yield f"{AnchorChanged.code}: something that was stored when the anchor was made has been changed or removed"
        return
    before = f"{checked.place.messages} messages and {checked.place.entries} entries of the audit log"
    if checked.holds:
        yield f"the anchor holds: {before} are unchanged"
        return
    yield f"{AnchorChanged.code}: the anchor was made after {before}, and some of these have changed since"
    yield from _fault_lines(checked.rows)
    if checked.entry is not None:
        yield f"audit_broken: entry {checked.entry} of the audit log is not as it was written"


def _fault_lines(faults: Iterable[Fault]) -> Iterator[str]:
    """Return a line for each fault."""
    for fault in faults:
        origin = "" if fault.seq is None else f" (table {fault.table}, fact {fault.seq})"
        if fault.table == DESK:
            origin = f" (ruling {fault.seq} of the desk)"
        yield f"{fault.code}: row {fault.height}{origin} {FAULTS[fault.code]}"


@store.command()
@click.argument("event", type=EXISTING_FOLDER)
@click.option(
    "--to", "address", metavar="postgresql://USER@HOST/DATABASE", required=True, help="Address of the database."
)
@PASSWORD
@json_lines
def move_command(event: Path, address: str, store_password: Path | None) -> None:
    """Move an event's journal from its folder into PostgreSQL. Its scorer must not be running.

    \b
    homologue store move my-event --to postgresql://scorer@db.example.org/homologue --store-password db.password
    """
    database = database_address(address, store_password)
    if database is not None:
        with working("Moving"):
            count = _move(event, database)
        say(f"{amount(count, 'message')} moved; {STORE}.moved is the journal as it was", messages=count)


def _move(folder: Path, database: DatabaseAddress) -> int:
    if not (folder / STORE).exists():
        raise StoreMissing(f"there is no {STORE} in {folder}: nothing has been recorded there")
    event = event_name(folder)
    with (
        closing(SqliteJournal(folder / STORE, event)) as source,
        closing(open_at(database, folder, event)) as target,
    ):
        refuse_nonempty(target)
        height = copy_journal(source, target)
        write_address(folder, database)
    (folder / STORE).rename(folder / f"{STORE}.moved")
    return height


def _check_one(path: Path) -> bool:
    try:
        manifest = check_copy(path)
        faults = copy_faults(path, manifest.event)
    except BackupBroken as problem:
        say(f"{problem.code}: {problem}", copy=path.name, whole=False, code=problem.code, message=str(problem))
        return False
    lines = "".join(f"\n  {line}" for line in _fault_lines(faults))
    found = {"event": manifest.event, "messages": manifest.height, "made_at": manifest.made_at}
    rows = [fault._asdict() for fault in faults]
    say(_describe(path, manifest) + lines, copy=path.name, whole=not faults, **found, faults=rows)
    return not faults


def _describe(path: Path, manifest: BackupManifest) -> str:
    """Describe a copy in one line."""
    made = datetime.fromtimestamp(manifest.made_at / 1000, UTC)
    return f"{path.name}: {manifest.event}, {amount(manifest.height, 'message')}, made {made:%Y-%m-%d %H:%M:%S} UTC"


def _names(folder: Path) -> Iterator[str]:
    return (path.name for path in folder.iterdir()) if folder.is_dir() else iter(())


@store.command()
@click.argument("event", type=EXISTING_FOLDER)
@click.option("--to", "target", type=FOLDER, required=True, help="Folder for copies, on a second disk or a stick.")
@KEEP
@json_lines
def backup_command(event: Path, target: Path, keep: int) -> None:
    """Copy an event now. Its scorer may be running.

    \b
    homologue store backup my-event --to /media/stick
    """
    with working("Copying, and reading the copy back"):
        made = make_copy(event, event_name(event), target, wall_clock_ms(), keep, (copy_people,))
    say(f"{made}: read back and whole", copy=made)


@store.command()
@SOURCE
@click.argument("folder", type=FOLDER)
@click.option("--event", help="Name of the event, if the folder has copies of several.")
@click.option(
    "--second-home", type=FOLDER, help="Folder given to the scorer as --second-home: rulings come back from there."
)
@ADDRESS
@PASSWORD
@json_lines
def restore_command(
    source: Path,
    folder: Path,
    event: str | None,
    second_home: Path | None,
    store_address: str | None,
    store_password: Path | None,
) -> None:
    """Restore the newest complete copy into FOLDER, which must be new or empty.

    Messages that the copy lacks are listed by number, if the second home or newer but damaged copies show them. Tables
    send their own messages again; rulings come back from the second home now, and from tables later.

    \b
    homologue store restore /media/stick my-event
    """
    chosen, manifest, broken = choose_copy(source, event)
    for problem in broken:
        click.echo(f"skipped: {problem}", err=True)
    with working("Restoring"):
        restore_copy(chosen, manifest, folder, database_address(store_address, store_password))
        people = restore_people(folder, chosen, _newer_copies(chosen, manifest.event), wall_clock_ms())
    lines = [*_restored_lines(folder, manifest.event, second_home, _newer_copies(chosen, manifest.event))]
    if people:
        lines.append(f"accounts: as in {people}; everybody must log in again. Check them: homologue event people list")
    text = "\n".join((f"{folder}: {_describe(chosen, manifest)}", *lines))
    say(text, folder=folder, copy=chosen.name, event=manifest.event, messages=manifest.height, notes=lines)


def _restored_lines(folder: Path, event: str, second_home: Path | None, newer: Sequence[Path]) -> Iterator[str]:
    """Add what the second home has to a restored store. Return lines that say what came back and what is missing."""
    if not has_started(folder):
        return
    with closing(open_journal(folder, event)) as journal:
        content = read_journal(journal, open_event(folder))
        concerns: list[Concern] = []
        if second_home is not None:
            content, concerns = recover_lost(journal, content, SecondHome(second_home, event))
        content = content.with_faults(lost_since(journal, content, newer))
        with journal.commit():
            journal.record_faults(content.faults)
    yield from (concern.text for concern in concerns)
    missing = [fault for fault in content.faults if fault.code == LOST]
    yield from (concern.text for concern in concerns_of_faults(content.faults))
    if missing:
        yield "once the scorer has started, tables send their messages again, and the rulings that they keep"
    elif second_home is None:
        yield "what came after this copy is unknown; once the scorer has started, tables send their messages again"


def _newer_copies(chosen: Path, event: str) -> list[Path]:
    """Return the copies in the same folder that are newer than the chosen one, the newest first."""
    names = copy_names((path.name for path in chosen.parent.iterdir()), event)
    return [chosen.parent / name for name in names[: names.index(chosen.name)]] if chosen.name in names else []
