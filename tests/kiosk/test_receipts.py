"""Receipts settle the outbox by id, and a number that another device has used is a conflict."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker.contract.messages import LogMessage, Receipt, Restored
from kiosk.journal import Journal
from tests.kiosk.journals import HAPPENED, OURS, Broken, receipt, told


def test_a_receipt_settles_what_it_names_by_id(journal: Journal) -> None:
    one, two, three = told(journal, 3)
    journal.settle(receipt(taken={1: one.id}, refused={2: (two.id, "wrong_round")}))
    assert journal.unsent() == (three,)
    assert journal.refused() == ((2, "wrong_round"),)


def test_another_devices_fact_of_the_same_number_makes_ours_a_conflict(journal: Journal) -> None:
    one, two = told(journal, 2)
    journal.settle(receipt(taken={1: "somebody-elses", 2: two.id}))
    assert (journal.unsent(), journal.refused()) == ((), ((1, "conflict"),))
    journal.settle(receipt(taken={1: one.id}))
    assert journal.refused() == ((1, "conflict"),)


def test_a_refusal_of_another_devices_fact_is_none_of_ours(journal: Journal) -> None:
    (one,) = told(journal, 1)
    journal.settle(receipt(refused={1: ("somebody-elses", "wrong_round")}))
    assert (journal.unsent(), journal.refused()) == ((one,), ())


def test_a_receipt_for_what_we_never_said_changes_nothing(journal: Journal) -> None:
    (one,) = told(journal, 1)
    journal.settle(receipt(taken={2: one.id, 9: "somebody-elses"}))
    assert journal.unsent() == (one,)


def test_what_was_once_safe_stays_safe(journal: Journal) -> None:
    (one,) = told(journal, 1)
    journal.settle(receipt(taken={1: one.id}))
    journal.settle(receipt(taken={1: "somebody-elses"}, refused={1: (one.id, "wrong_round")}))
    assert (journal.unsent(), journal.refused()) == ((), ())


def test_an_error_while_settling_settles_nothing(path: Path) -> None:
    journal = Journal(path, OURS)
    one, two = told(journal, 2)
    whole = journal._store
    journal._store = Broken(whole, "UPDATE", 3)  # type: ignore[assignment] # stands in for a failing disk
    with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
        journal.settle(receipt(taken={1: one.id, 2: two.id}))
    journal._store = whole
    assert journal.unsent() == (one, two)
    journal.close()


FATES = st.lists(st.sampled_from(["open", "taken", "refused", "taken by another"]), min_size=4, max_size=4)
FORERUNNERS = st.lists(st.integers(0, 3), max_size=8)

RECEIPTS: dict[str, Callable[[LogMessage], Receipt]] = {
    "taken": lambda one: receipt(taken={one.seq: one.id}),
    "refused": lambda one: receipt(refused={one.seq: (one.id, "wrong_round")}),
    "taken by another": lambda one: receipt(taken={one.seq: "somebody-elses"}),
    "open": lambda _: receipt(),
}


@settings(max_examples=40)
@given(FATES, FORERUNNERS, st.permutations(range(4)))
def test_receipts_settle_the_same_in_any_order_and_however_often(
    tmp_path_factory: pytest.TempPathFactory, fates: list[str], before: list[int], order: list[int]
) -> None:
    with closing(Journal(tmp_path_factory.mktemp("receipts") / "table.sqlite", OURS)) as journal:
        journal._store.execute("PRAGMA synchronous=OFF")  # no power fails here
        messages = told(journal, len(fates))
        for at in before + order:
            journal.settle(RECEIPTS[fates[at]](messages[at]))
        codes = {"refused": "wrong_round", "taken by another": "conflict"}
        numbered = [*enumerate(fates, 1)]
        assert journal.refused() == tuple((seq, codes[fate]) for seq, fate in numbered if fate in codes)
        assert [message.seq for message in journal.unsent()] == [seq for seq, fate in numbered if fate == "open"]


def test_a_restored_fact_comes_back_from_the_outbox_as_it_went_in(journal: Journal) -> None:
    fact = Restored(round=1, deal=1, verified=True, form="a" * 64, refusals=3)
    (message,) = journal.record(HAPPENED, [fact], wall=5, after=0)
    assert journal.unsent() == (message,)
