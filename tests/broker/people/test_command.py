"""The command `homologue event people`."""

import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from broker.cli.main import homologue
from broker.files import EVENT
from tests.broker.people.conftest import PASSWORD
from tests.refusals import codes


@pytest.fixture(autouse=True)
def event(tmp_path: Path) -> None:
    (tmp_path / EVENT).touch(mode=0o600)


def run(*words: str, said: str = f"{PASSWORD}\n") -> Result:
    return CliRunner().invoke(homologue, ["event", "people", *words], input=said)


def add(folder: Path, name: str = "anne", role: str = "head_arbiter") -> Result:
    return run("add", str(folder), name, "--full", f"=Full {name}", "--role", role, "--password-stdin")


def listed(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in run("list", str(folder), "--json").output.splitlines()]


def test_an_account_can_be_created_listed_disabled_and_enabled(tmp_path: Path) -> None:
    assert (add(tmp_path).exit_code, add(tmp_path, "bert", "display").exit_code) == (0, 0)
    assert run("disable", str(tmp_path), "bert").exit_code == 0
    assert [(row["name"], row["role"], row["disabled"]) for row in listed(tmp_path)] == [
        ("anne", "head_arbiter", False),
        ("bert", "display", True),
    ]
    assert run("enable", str(tmp_path), "bert").exit_code == 0
    assert [row["disabled"] for row in listed(tmp_path)] == [False, False]


def test_refused_commands_report_their_error_code(tmp_path: Path) -> None:
    add(tmp_path)
    refused = [
        add(tmp_path),
        run("disable", str(tmp_path), "anne"),
        run("password", str(tmp_path), "bert", "--password-stdin"),
        run("password", str(tmp_path), "anne", "--password-stdin", said="short\n"),
    ]
    assert [(one.exit_code, *codes(one.stderr)) for one in refused] == [
        (1, "account_taken"),
        (1, "last_head_arbiter"),
        (1, "account_unknown"),
        (1, "weak_password"),
    ]


def test_the_audit_log_is_exported_without_executable_formulas(tmp_path: Path) -> None:
    add(tmp_path)
    rows = list(csv.DictReader(io.StringIO(run("audit", str(tmp_path), "--csv").output)))
    assert [(row["who"], row["action"], row["detail"]) for row in rows] == [
        ("(command)", "account_added", "head_arbiter: =Full anne")
    ]
    lines = [json.loads(line) for line in run("audit", str(tmp_path)).output.splitlines()]
    assert [line["digest"] for line in lines] == [row["digest"] for row in rows]


def test_commands_never_print_a_password_or_hash(tmp_path: Path) -> None:
    told = [add(tmp_path), run("list", str(tmp_path)), run("audit", str(tmp_path))]
    assert [one.output for one in told if PASSWORD in one.output or "argon2" in one.output] == []


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    add(tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.stat().st_mode & 0o077] == []


@pytest.mark.parametrize(
    ("deleting", "where"),
    [
        ("DELETE FROM audit WHERE number = 3", "breaks at entry 3: entry 3 is missing"),
        ("DELETE FROM audit WHERE number BETWEEN 2 AND 4", "breaks at entry 2: entries 2 to 4 are missing"),
        ("DELETE FROM audit WHERE number > 4", "breaks at entry 5: entries 5 to 6 are missing"),
        ("DELETE FROM audit WHERE number > 0", "breaks at entry 1: entries 1 to 6 are missing"),
    ],
)
def test_deleted_entries_of_the_audit_log_are_reported(tmp_path: Path, deleting: str, where: str) -> None:
    for name in ("anne", "bert", "cleo", "dora", "emil", "fred"):
        add(tmp_path, name)
    behind_the_desk(tmp_path, deleting)
    told = run("audit", str(tmp_path))
    assert (told.exit_code, told.stderr.strip()) == (1, f"homologue: the audit log {where} [audit_broken]")


def test_a_changed_entry_of_the_audit_log_is_reported(tmp_path: Path) -> None:
    for name in ("anne", "bert", "cleo"):
        add(tmp_path, name)
    behind_the_desk(tmp_path, "UPDATE audit SET who = 'anne' WHERE number = 2")
    told = run("audit", str(tmp_path))
    assert told.stderr.strip().endswith("breaks at entry 2: it has been changed [audit_broken]")
    assert len(told.stdout.splitlines()) == 1


def test_a_replaced_last_entry_is_reported_although_the_chain_is_intact(tmp_path: Path) -> None:
    """The last entry is removed, and another one written in its place."""
    for name in ("anne", "bert"):
        add(tmp_path, name)
    behind_the_desk(tmp_path, "DELETE FROM audit WHERE number = 2")
    add(tmp_path, "cleo")
    assert "breaks at entry 2: it has been replaced" in run("audit", str(tmp_path)).stderr


@pytest.mark.parametrize(
    ("lines", "kept", "breaks"),
    [(None, 4, 1), (None, 1, 1), (0, 4, 1), (3, 4, 3)],
    ids=["gone", "gone, and all entries but one", "empty", "cut off"],
)
def test_a_missing_or_truncated_witness_file_is_reported(
    tmp_path: Path, lines: int | None, kept: int, breaks: int
) -> None:
    """Otherwise entries could be removed from the end of the log unnoticed."""
    for name in ("anne", "bert", "cleo", "dora", "emil", "fred"):
        add(tmp_path, name)
    beside = tmp_path / "people.witness"
    first = beside.read_bytes().splitlines(keepends=True)[:lines]
    beside.unlink()
    if lines is not None:
        beside.write_bytes(b"".join(first))
    behind_the_desk(tmp_path, "DELETE FROM audit WHERE number > ?", kept)
    broken = f"homologue: the audit log breaks at entry {breaks}: people.witness does not record it [audit_broken]"
    for _ in range(2):
        told = run("audit", str(tmp_path))
        assert (told.exit_code, told.stderr.strip()) == (1, broken)
        add(tmp_path, "gina")  # a later entry does not repair it


def test_an_audit_log_deleted_with_its_witness_file_is_reported(tmp_path: Path) -> None:
    add(tmp_path)
    (tmp_path / "people.witness").unlink()
    behind_the_desk(tmp_path, "DELETE FROM audit")
    assert codes(run("audit", str(tmp_path)).stderr) == ["audit_broken"]


def test_a_witness_line_lost_in_a_power_cut_is_written_at_the_next_start(tmp_path: Path) -> None:
    for name in ("anne", "bert"):
        add(tmp_path, name)
    beside = tmp_path / "people.witness"
    whole = beside.read_bytes()
    beside.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert run("audit", str(tmp_path)).exit_code == 0
    assert beside.read_bytes() == whole
    add(tmp_path, "cleo")
    assert run("audit", str(tmp_path)).exit_code == 0


@pytest.mark.parametrize("was_named", [True, False])
def test_a_log_of_an_older_program_gets_its_witness_lines_when_opened(tmp_path: Path, *, was_named: bool) -> None:
    for name in ("anne", "bert", "cleo"):
        add(tmp_path, name)
    beside = tmp_path / "people.witness"
    lines = beside.read_bytes().splitlines(keepends=True)
    beside.write_bytes(b"".join(lines[1:] if was_named else []))
    behind_the_desk(tmp_path, "DELETE FROM about WHERE key = 'witness'")
    assert run("audit", str(tmp_path)).exit_code == 0
    assert set(beside.read_bytes().splitlines(keepends=True)) == set(lines)


def behind_the_desk(folder: Path, statement: str, *values: int) -> None:
    """Change the audit log by SQL without its triggers."""
    with closing(sqlite3.connect(folder / "people.sqlite")) as store:
        for change in ("update", "delete"):
            store.execute(f"DROP TRIGGER IF EXISTS audit_append_only_{change}")
        store.execute(statement, values)
        store.commit()
