"""`homologue doctor`: finds what is wrong with a scorer's machine or in the hall, and says what to do.

A table's machine is examined in `kiosk/doctor.py`.
"""

import ssl
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final
from urllib.error import URLError
from urllib.parse import urlsplit

import click

from broker.checkup import BUNDLE_OPTION, JSON_OPTION, Examined, Finding, print_result, write_bundle
from broker.cli import options
from broker.console import EXISTING_FILE, EXISTING_FOLDER, FOLDER
from broker.errors import BackupBroken, BrokerError, ProgramMissing, ScorerError, StoreError, reason
from broker.event import open_event, read_centre, read_nodes
from broker.event.readiness import deal_notes, start_notes, start_problems
from broker.files import EVENT, PEOPLE_FILE
from broker.halls.link import addresses_of
from broker.mqtt import ANEW_BEFORE, PROBER, TLS_FOLDER, Certificates, Kind, broker_program, probe_broker, utc_now
from broker.people import Authentication, PeopleError
from broker.protocol import SILENT_S
from broker.protocol.tls import event_context
from broker.scorer import Verified, verify_store
from broker.scorer.space import LARGEST_RESERVE, disk_room
from broker.store import STORE, copy_names, database_of, read_manifest
from broker.web.tables.devices import CLOCK_OFF_S, HOT_CELSIUS, LOW_MIB

MIB: Final = 1024 * 1024
TIMEOUT_S: Final = 10

UNEXAMINED: Final = "a part that could not be examined may have problems too"
DISK_FULL: Final = "no results can be stored on a full disk"

Check = Callable[[], Iterator[Finding]]


@click.command("scorer", short_help="Examine a scorer's machine and an event's folder.")
@click.argument("folder", type=EXISTING_FOLDER)
@options.broker_option("Broker that the scorer will run.")
@click.option("--backup", type=FOLDER, help="Folder with copies of the event.")
@click.option(
    "--backup-age", type=click.IntRange(1), default=60, show_default=True, help="Maximum age of a copy, in minutes."
)
@JSON_OPTION
@BUNDLE_OPTION
def scorer_doctor(
    folder: Path, broker: Kind, backup: Path | None, backup_age: int, bundle: Path | None, *, as_json: bool
) -> None:
    """Examine the event in FOLDER, its store, accounts and copies, and the programs that its scorer needs."""
    checks: dict[str, Check] = {
        "event": lambda: _event(folder),
        "store": lambda: _store(folder),
        "broker": lambda: _broker(broker),
        "certificates": lambda: _certificates(folder),
        "nodes": lambda: _nodes(folder),
        "centre": lambda: _centre(folder),
        "people": lambda: _people(folder),
        "secrets": lambda: _secrets(folder),
        "disk": lambda: _disk(folder),
    }
    if backup is not None:
        checks["copies"] = lambda: _copies(folder, backup, backup_age)
    examined = examine(checks)
    code = print_result(examined, as_json=as_json)
    if bundle is not None:
        write_bundle(bundle, examined, {"event.txt": _about(folder)}, [folder])
    sys.exit(code)


def examine(checks: dict[str, Check]) -> Examined:
    """Run all checks. A check that cannot be run is a finding too."""
    found: list[Finding] = []
    for name, check in checks.items():
        try:
            found += check()
        except (ScorerError, StoreError, BrokerError, PeopleError) as error:
            do = "fix this, then run the command again"
            found.append(Finding(error.code, what=f"{name}: {error}", why=UNEXAMINED, do=do))
        except OSError as error:
            what = f"{name}: {error.filename or ''}: {error.strerror}"
            do = "run this as the user whose files these are"
            found.append(Finding("doctor_blind", what, UNEXAMINED, do))
    return Examined(tuple(checks), tuple(found))


def _about(folder: Path) -> str:
    """Describe the event in one line, without naming people."""
    try:
        event = open_event(folder)
    except ScorerError as error:
        return f"{error.code}\n"
    field = f"tables: {len(event.tables)}, players: {len(event.players)}, deals: {len(event.expected)}"
    plays = f"plays: {len(event.plan.plays)}, sessions: {len(event.riichi)}"
    return f"{event.name}: {event.profile.id}, {field}, {plays}\n"


def _event(folder: Path) -> Iterator[Finding]:
    for code, text in start_problems(folder):
        why, do = "until it is fixed the scorer does not start", "fix it, then run homologue event check"
        yield Finding(code, what=str(text), why=why, do=do)
    if (folder / EVENT).exists():
        try:
            notes = [*start_notes(open_event(folder).plan), *deal_notes(folder)]
        except ScorerError:
            return  # the error is among the start problems
        for code, text in notes:
            yield Finding(
                code, what=str(text), why="it may be unintended", do="fix it, unless it is intended", must=False
            )


@cache
def _verified(folder: Path) -> Verified | None:
    """Verify the store and return the result, or None if the event has not begun. Raises ScorerError, StoreError."""
    return None if database_of(folder) is None and not (folder / STORE).exists() else verify_store(folder)


def _messages(folder: Path) -> int:
    found = _verified(folder)
    return found.messages if found else 0


def _store(folder: Path) -> Iterator[Finding]:
    found = _verified(folder)
    if found and found.faults:
        yield Finding(
            "store_unproven",
            f"{len(found.faults)} of {found.messages} messages in the store fail verification",
            "they do not count until their tables have sent them again",
            "homologue store verify lists them; start the scorer, and let those tables connect",
        )


def _broker(kind: Kind) -> Iterator[Finding]:
    try:
        program = broker_program(kind)
    except ProgramMissing as error:
        do = "install it, or choose the other broker"
        why = "without a broker the scorer receives nothing from tables"
        yield Finding(error.code, what=str(error), why=why, do=do)
        return
    if program.altered:
        yield Finding(
            "program_altered",
            f"{program.path} is not what its package installed",
            "whoever changed it can read and write every message",
            "reinstall its package, and find out who changed it",
        )


def _certificates(folder: Path) -> Iterator[Finding]:
    if not (folder / TLS_FOLDER).exists():
        yield Finding(
            "no_certificates",
            "the event has no certificates",
            "it is played without TLS, or has not been started",
            "homologue certs new creates them",
            must=False,
        )
        return
    left = Certificates.of_event(folder).server_ends - utc_now()
    if left < ANEW_BEFORE:
        yield Finding(
            "certificate_ends",
            f"the server's certificate ends in {max(left.days, 0)} days",
            "tables and browsers will then reject it",
            "restart the scorer, which renews it, or run homologue certs renew",
        )


def _nodes(folder: Path) -> Iterator[Finding]:
    """Check the nodes of a centre whose broker runs on several machines."""
    if nodes := read_nodes(folder):
        known = Certificates.of_event(folder)
        context = event_context(known.authority, known.office(PROBER))
        for number, place in enumerate(nodes.nodes, 1):
            host, _, port = place.rpartition(":")
            if why := probe_broker(host.strip("[]"), int(port), context=context):
                yield Finding(
                    "node_away",
                    f"node {number} of the centre's broker, {place}: {why}",
                    "halls use the other nodes; if more than half do not run, nothing reaches the centre",
                    f"on that machine: homologue centre FOLDER --node {number}",
                )


def _centre(folder: Path) -> Iterator[Finding]:
    """Check whether a hall can reach a broker of its centre and log in there."""
    if not (centre := read_centre(folder)):
        return
    found = list[str]()
    for at in addresses_of(folder, centre):
        context = event_context(at.ca.read_text("ascii"), at.identity) if at.ca else None
        if not (why := probe_broker(at.host, at.port, None if context else (at.user, at.password), context)):
            return
        found.append(f"{at.host}:{at.port}: {why}")
    yield Finding(
        "centre_away",
        f"the centre cannot be reached: {'; '.join(found)}",
        "the hall plays on and sends its results later; until then no deal becomes public here",
        "compare the address with the centre's; ask there whether this hall was revoked (homologue hall list)",
    )


def _people(folder: Path) -> Iterator[Finding]:
    if not (folder / PEOPLE_FILE).exists() and database_of(folder) is None:
        yield _no_head()
        return
    with closing(Authentication(folder)) as auth:
        if not any(one.role == "head_arbiter" and not one.disabled for one in auth.accounts.all()):
            yield _no_head()
        for _ in auth.audit.checked():
            pass


def _no_head() -> Finding:
    return Finding(
        "no_head_arbiter",
        "nobody may log in as head arbiter",
        "without one nobody can give orders or make rulings",
        "homologue event people add, with the role head_arbiter",
        must=False,
    )


def _secrets(folder: Path) -> Iterator[Finding]:
    names = ("credentials.json", "event.key", "deals.json", "sets.json", PEOPLE_FILE, f"{TLS_FOLDER}/*.key")
    found = [path for name in names for path in sorted(folder.glob(name)) if path.stat().st_mode & 0o077]
    for path in found:
        yield Finding(
            "secret_readable",
            f"other users of this machine may read {path}",
            "anybody who reads it can act as a table, or knows the deals",
            f"chmod 600 {path}",
        )


def _disk(folder: Path) -> Iterator[Finding]:
    free = disk_room(folder)[0]
    if free < 4 * LARGEST_RESERVE:
        yield Finding(
            "scorer_disk_low",
            f"{free // MIB} MiB are free for the event",
            DISK_FULL,
            "free space on the disk, or move the event's folder",
        )


def _copies(folder: Path, backup: Path, minutes: int) -> Iterator[Finding]:
    event = open_event(folder).name
    names = copy_names((path.name for path in backup.iterdir()), event) if backup.is_dir() else []
    copies = []
    for name in names:
        try:
            copies.append(read_manifest(backup / name))
        except BackupBroken:
            continue
    why = "if this disk fails, everything since the last copy is lost, except what the tables have"
    do = "check that the stick is plugged in, then run homologue store backup"
    if not copies:
        yield Finding("backup_missing", f"{backup} has no copy of {event}", why, do)
        return
    newest = max(copies, key=lambda one: one.made_at)
    age = time.time() - newest.made_at / 1000
    if age > minutes * 60 and _messages(folder) > newest.height:  # an unchanged event is not copied again
        yield Finding("backup_old", f"the messages of the last {int(age / 60)} minutes are in no copy", why, do)


@click.command("hall", short_help="Ask a running desk about the health of all tables.")
@click.argument("desk")
@click.option("--token-file", type=EXISTING_FILE, required=True, help="File with a token of the role monitor.")
@click.option("--ca", type=EXISTING_FILE, help="Certificate authority of the event.")
@JSON_OPTION
@BUNDLE_OPTION
def hall_doctor(desk: str, token_file: Path, ca: Path | None, bundle: Path | None, *, as_json: bool) -> None:
    """Ask the desk at the address DESK about the health of its scorer and all tables.

    Create the token with `homologue event people token add FOLDER NAME --role monitor`.
    """
    token = token_file.read_text(encoding="ascii", errors="replace").strip()
    try:
        metrics = _read_metrics(desk, token, ca)
        examined = Examined(("scorer", "broker", "tables", "clocks", "disks", "copies"), tuple(hall_findings(metrics)))
    except (OSError, ValueError) as error:
        metrics, why = "", "the state of the hall is unknown"
        do = "check the address, that the scorer runs, that the token is a monitor's, and that --ca is the event's"
        examined = Examined(("desk",), (Finding("desk_unread", f"{desk}: {_why_unread(error)}", why, do),))
    code = print_result(examined, as_json=as_json)
    if bundle is not None:
        write_bundle(bundle, examined, {"metrics.txt": metrics.replace(token, "")}, [])
    sys.exit(code)


def _why_unread(error: Exception) -> object:
    """Return why a desk could not be read, without the library's wrapping."""
    found = error.reason if type(error) is URLError else error
    return reason(found) if isinstance(found, OSError) else found


def _read_metrics(desk: str, token: str, ca: Path | None) -> str:
    """Read a desk's metrics. Raises OSError, ValueError."""
    if urlsplit(desk).scheme not in {"http", "https"}:
        raise ValueError("the address must begin with https:// or http://")
    if not token.isascii() or not token.isprintable():
        raise ValueError("the file does not contain a token")
    request = urllib.request.Request(  # noqa: S310 - http or https, as checked above
        f"{desk.rstrip('/')}/metrics", headers={"Authorization": f"Bearer {token}"}
    )
    trusted = ssl.create_default_context(cafile=ca)
    with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=trusted) as answer:  # noqa: S310 - http or https, as checked
        return str(answer.read().decode())


def hall_findings(metrics: str) -> Iterator[Finding]:
    """Return what is wrong in a hall, according to its desk's /metrics."""
    from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415 - only needed here

    values: dict[str, dict[str, float]] = {}
    versions: dict[str, str] = {}
    for family in text_string_to_metric_families(metrics):
        for sample in family.samples:
            table = sample.labels.get("table", sample.labels.get("level", ""))
            values.setdefault(sample.name.removeprefix("homologue_"), {})[table] = sample.value
            if sample.name in {"homologue_build_info", "homologue_table_build_info"}:
                versions[table] = sample.labels["version"]
    if not values.get("broker_connected", {}).get(""):
        why, do = "nothing is stored; tables play on and keep everything", "check that the broker runs; read its log"
        yield Finding("broker_away", "the scorer is not connected to the broker", why, do)
    yield from _of_tables(values)
    others = {table: version for table, version in versions.items() if table and version != versions.get("")}
    if others:
        what = f"tables with a different version from the scorer's {versions.get('')}: {_tables(others)}"
        why = "they work together, but problems fixed in one version are still in the other"
        yield Finding("versions_differ", what, why, "upgrade them between two rounds", must=False)
    level = next((one for one, active in values.get("disk_level", {}).items() if active), "ample")
    if level != "ample":
        yield Finding("scorer_disk_low", f"the scorer's disk is {level}", DISK_FULL, "free space on its disk")


RULES: Final[tuple[tuple[str, Callable[[float], bool], Finding], ...]] = (
    ("table_away", lambda value: value > 0, Finding(
        "tables_away", "offline: tables {tables}",
        "they play on, but nobody sees their results or calls", "check their power, their network and their screens")),
    ("table_last_heard_seconds", lambda value: value > SILENT_S, Finding(
        "tables_silent", "silent for over 30 s: tables {tables}",
        "their network may be down, or their program may hang", "the screen of the table says which")),
    ("table_clock_offset_seconds", lambda value: abs(value) > CLOCK_OFF_S, Finding(
        "clocks_off", "clocks are wrong at tables {tables}",
        "the times shown are wrong, and certificates may seem to have expired", "let them reach a time server")),
    ("table_temperature_celsius", lambda value: value > HOT_CELSIUS, Finding(
        "tables_hot", "over 75 degrees at tables {tables}",
        "a hot Pi slows down, and reading trays takes long", "let air reach them, and move them out of the sun")),
    ("table_disk_free_bytes", lambda value: value < LOW_MIB * MIB, Finding(
        "tables_full", "the cards of tables {tables} are nearly full",
        "when a card is full, a play is kept in memory only", "free space on them, or replace them after the session")),
)  # fmt: skip
"""For each metric of tables: when a value is wrong, and the finding for the tables that have one."""


def _of_tables(values: dict[str, dict[str, float]]) -> Iterator[Finding]:
    for name, wrong, finding in RULES:
        if tables := {table: value for table, value in values.get(name, {}).items() if wrong(value)}:
            yield replace(finding, what=finding.what.format(tables=_tables(tables)))


def _tables(found: dict[str, float] | dict[str, str]) -> str:
    return ", ".join(sorted(found, key=lambda table: int(table) if table.isdecimal() else 0))
