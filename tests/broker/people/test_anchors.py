"""An anchor proves that nothing before it has changed since. What comes after it does not matter."""

import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Final

import pytest

from broker.errors import AnchorElsewhere, AnchorMistyped
from broker.event import save_event
from broker.files import PEOPLE_FILE
from broker.people import AuditEntry, Authentication
from broker.people.accounts import FIRST_DIGEST, digest_of
from broker.people.anchors import CheckedAnchor, anchor_of, check_anchor
from broker.protocol.paper_codes import CODE_ALPHABET
from broker.read_ahead import FIRST_LINK
from broker.store import STORE, AnchorPlace, LogHead, anchor_text, find_anchor, link_after, open_journal
from tests.broker.scorer.folders import event_folder, until_round
from tests.broker.scorer.small import NAME, deals, plan, registry, whole_event
from tests.broker.store.server import Server
from tests.broker.store.stores import fill, in_postgresql

BEFORE: Final = until_round(2)
AFTER: Final = [message for message in whole_event() if message.fact.round > 2]
ENTRIES: Final = 4
MIDDLE: Final = len(BEFORE) // 2

Rows = list[tuple[int, int, int, int, str, bytes, bytes]]
"""Journal rows: height, time, table, number, id, body, link."""


def log(folder: Path, *actions: str) -> None:
    """Add entries to the audit log."""
    with closing(Authentication(folder)) as auth:
        for at, action in enumerate(actions):
            auth.audit.note(at, "tao", action)


@pytest.fixture
def anchored(tmp_path: Path) -> tuple[Path, str]:
    """Return the folder of a finished event and its anchor after two rounds."""
    folder = event_folder(tmp_path / "event", BEFORE)
    log(folder, *(f"before{number}" for number in range(ENTRIES)))
    anchor = anchor_of(folder)
    with closing(open_journal(folder, NAME)) as journal:
        fill(journal, *AFTER)
    log(folder, "after", "later")
    return folder, anchor


PLACE: Final = AnchorPlace(len(BEFORE), ENTRIES)


def test_an_anchor_holds_whatever_is_stored_after_it(anchored: tuple[Path, str]) -> None:
    folder, anchor = anchored
    assert check_anchor(folder, anchor) == CheckedAnchor(PLACE)
    assert anchor_of(folder) != anchor
    assert check_anchor(folder, anchor_of(folder)).place == AnchorPlace(len(whole_event()), ENTRIES + 2)


def test_an_anchor_holds_for_a_store_in_postgresql(server: Server, tmp_path: Path) -> None:
    kept = in_postgresql(tmp_path / "there", server)
    save_event(kept.folder, plan(), deals(), registry())
    with kept.journal() as journal:
        fill(journal, *BEFORE)
        log(kept.folder, "before")
        anchor = anchor_of(kept.folder)
        fill(journal, *AFTER)
    assert check_anchor(kept.folder, anchor) == CheckedAnchor(AnchorPlace(len(BEFORE), 1))


def test_an_event_with_an_empty_store_has_an_anchor(tmp_path: Path) -> None:
    folder = event_folder(tmp_path / "event", [])
    assert check_anchor(folder, anchor_of(folder)) == CheckedAnchor(AnchorPlace(0, 0))


def test_checking_an_anchor_writes_nothing(anchored: tuple[Path, str]) -> None:
    folder, anchor = anchored
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    check_anchor(folder, anchor)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


# ---- the journal --------------------------------------------------------------------------------


def rewrite(folder: Path, change: Callable[[Rows], Rows], *, linked: bool) -> None:
    """Replace the rows of a journal; if `linked`, with links computed anew, as a skilled attacker would."""
    with closing(sqlite3.connect(folder / STORE)) as store:
        triggers = store.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'journal'")
        for (name,) in triggers.fetchall():
            store.execute(f"DROP TRIGGER {name}")
        columns = "height, received_at, table_no, seq, id, body, link"
        rows = change(store.execute(f"SELECT {columns} FROM journal ORDER BY height").fetchall())  # noqa: S608 - a constant
        store.execute("DELETE FROM journal")
        link = FIRST_LINK
        for height, at, table, seq, id_, body, old in rows:
            link = link_after(link, height, at, body) if linked else old
            row = (height, at, table, seq, id_, body, link)
            store.execute("INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", row)
        store.commit()


def changed(rows: Rows, at: int, body: Callable[[bytes], bytes] = bytes.swapcase, later: int = 0) -> Rows:
    height, received_at, table, seq, id_, said, link = rows[at]
    return [*rows[:at], (height, received_at + later, table, seq, id_, body(said), link), *rows[at + 1 :]]


def renumbered(rows: Sequence[tuple[int, int, int, int, str, bytes, bytes]]) -> Rows:
    return [(height, *row[1:]) for height, row in enumerate(rows, 1)]


TAMPERED: Final[dict[str, Callable[[Rows], Rows]]] = {
    "the first is changed": lambda rows: changed(rows, 0),
    "one is changed": lambda rows: changed(rows, MIDDLE),
    "the last is changed": lambda rows: changed(rows, len(BEFORE) - 1),
    "one came later": lambda rows: changed(rows, MIDDLE, bytes, later=1),
    "one is removed": lambda rows: [*rows[:MIDDLE], *rows[MIDDLE + 1 :]],
    "one is removed, and the rest moved up": lambda rows: renumbered([*rows[:MIDDLE], *rows[MIDDLE + 1 :]]),
    "two are exchanged": lambda rows: renumbered([*rows[:MIDDLE], rows[MIDDLE + 1], rows[MIDDLE], *rows[MIDDLE + 2 :]]),
    "one of those after it stands before it": lambda rows: renumbered([rows[-1], *rows[:-1]]),
}


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("how", TAMPERED)
def test_every_change_to_the_journal_before_an_anchor_is_detected(
    anchored: tuple[Path, str], how: str, *, linked: bool
) -> None:
    folder, anchor = anchored
    rewrite(folder, TAMPERED[how], linked=linked)
    checked = check_anchor(folder, anchor)
    assert not checked.holds
    assert linked or checked.rows or checked.place is None


@pytest.mark.parametrize("linked", [False, True])
def test_changes_to_the_journal_after_an_anchor_do_not_matter(anchored: tuple[Path, str], *, linked: bool) -> None:
    folder, anchor = anchored
    rewrite(folder, lambda rows: changed(rows, len(BEFORE) + 1), linked=linked)
    rewrite(folder, lambda rows: rows[:-1], linked=linked)
    assert check_anchor(folder, anchor) == CheckedAnchor(PLACE)


@pytest.mark.parametrize("left", [0, MIDDLE, len(BEFORE) - 1])
def test_a_journal_cut_off_before_the_anchor_does_not_match_it(anchored: tuple[Path, str], left: int) -> None:
    """The same applies to a copy that is older than the anchor."""
    folder, anchor = anchored
    rewrite(folder, lambda rows: rows[:left], linked=False)
    assert check_anchor(folder, anchor) == CheckedAnchor(None)


def test_a_changed_row_is_reported(anchored: tuple[Path, str]) -> None:
    folder, anchor = anchored
    rewrite(folder, lambda rows: changed(rows, 2), linked=False)
    checked = check_anchor(folder, anchor)
    assert (checked.place, [(fault.code, fault.height) for fault in checked.rows]) == (PLACE, [("row_altered", 3)])


@pytest.mark.parametrize("same", [True, False])
def test_a_repaired_row_counts_as_unchanged_if_its_content_is_the_same(
    anchored: tuple[Path, str], *, same: bool
) -> None:
    folder, anchor = anchored
    rewrite(folder, lambda rows: changed(rows, 2), linked=False)
    message, other = BEFORE[2], BEFORE[3]
    with closing(open_journal(folder, NAME)) as journal, journal.commit():
        journal.append(message if same else other, 0, repairs=3)
    assert check_anchor(folder, anchor).holds == same


# ---- the audit log ------------------------------------------------------------------------------


def rewrite_log(folder: Path, change: Callable[[list[AuditEntry]], list[AuditEntry]], *, chained: bool) -> None:
    """Replace the entries of an audit log; if `chained`, with digests computed anew."""
    with closing(sqlite3.connect(folder / PEOPLE_FILE)) as store:
        triggers = store.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit'")
        for (name,) in triggers.fetchall():
            store.execute(f"DROP TRIGGER {name}")
        columns = ", ".join(AuditEntry._fields)
        found = store.execute(f"SELECT {columns} FROM audit ORDER BY number")  # noqa: S608 - a constant
        entries = change([AuditEntry(*row) for row in found])
        store.execute("DELETE FROM audit")
        before = FIRST_DIGEST
        for entry in entries:
            before = digest_of(before, entry) if chained else entry.digest
            store.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*entry[:-1], before))
        store.commit()


OF_LOG: Final[dict[str, Callable[[list[AuditEntry]], list[AuditEntry]]]] = {
    "one is changed": lambda log: [log[0]._replace(who="nobody"), *log[1:]],
    "one is removed": lambda log: [log[0], *log[2:]],
    "one is removed, and the rest moved up": lambda log: [
        entry._replace(number=number) for number, entry in enumerate([log[0], *log[2:]], 1)
    ],
    "all but the first are removed": lambda log: log[:1],
    "all are removed": lambda _: [],
}


@pytest.mark.parametrize("chained", [False, True])
@pytest.mark.parametrize("how", OF_LOG)
def test_every_change_to_the_audit_log_before_an_anchor_is_detected(
    anchored: tuple[Path, str], how: str, *, chained: bool
) -> None:
    folder, anchor = anchored
    rewrite_log(folder, OF_LOG[how], chained=chained)
    assert not check_anchor(folder, anchor).holds


def test_the_changed_entry_is_reported_and_later_changes_do_not_matter(anchored: tuple[Path, str]) -> None:
    folder, anchor = anchored
    rewrite_log(folder, lambda log: [*log[:-1], log[-1]._replace(who="nobody")], chained=False)
    assert check_anchor(folder, anchor).holds
    rewrite_log(folder, lambda log: [log[0], log[1]._replace(who="nobody"), *log[2:]], chained=False)
    assert check_anchor(folder, anchor) == CheckedAnchor(PLACE, entry=2)


def test_an_anchor_is_found_in_a_log_of_many_entries() -> None:
    """An anchor's hint at the entry is ambiguous in a long log."""
    digests = [f"{number:064x}" for number in range(1, 3000)]
    link = b"l" * 32
    for number in (1, 1024, 1025, 2999):
        anchor = anchor_text(NAME, link, LogHead(number, digests[number - 1]))
        assert find_anchor(anchor, NAME, [(1, 0, b"", link)], digests) == AnchorPlace(1, number)


# ---- typing anchors --------------------------------------------------------------------------


def test_an_anchor_may_be_typed_in_lower_case_without_hyphens_and_with_lookalikes(anchored: tuple[Path, str]) -> None:
    folder, anchor = anchored
    for typed in (anchor.lower(), anchor.replace("-", " "), anchor.replace("0", "O").replace("1", "l")):
        assert check_anchor(folder, typed).holds


def test_any_wrong_letter_and_any_two_exchanged_ones_are_detected(anchored: tuple[Path, str]) -> None:
    folder, anchor = anchored
    letters = anchor.replace("-", "")
    typed = {letters[:at] + one + letters[at + 1 :] for at in range(len(letters)) for one in CODE_ALPHABET}
    for first, second in combinations(range(len(letters)), 2):
        exchanged = [*letters]
        exchanged[first], exchanged[second] = letters[second], letters[first]
        typed.add("".join(exchanged))
    for slip in typed - {letters} | {"", letters[:-1], letters + "0", "ANCHOR", "é" * 28, "0" * 10_000}:
        with pytest.raises(AnchorMistyped):
            find_anchor(slip, NAME, [], [])  # before any store is read
    with pytest.raises(AnchorMistyped):
        check_anchor(folder, letters[:-1])


def test_an_anchor_of_another_event_is_refused(anchored: tuple[Path, str]) -> None:
    folder, _ = anchored
    with pytest.raises(AnchorElsewhere) as told:
        check_anchor(folder, anchor_text("league", FIRST_LINK, LogHead()))
    assert told.value.code == "anchor_of_another_event"


def test_an_anchor_holds_for_a_copy_of_the_event(anchored: tuple[Path, str], tmp_path: Path) -> None:
    folder, anchor = anchored
    shutil.copytree(folder, tmp_path / "copy")
    assert check_anchor(tmp_path / "copy", anchor) == CheckedAnchor(PLACE)
