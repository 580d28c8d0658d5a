"""Receipts settle the outbox by id: nothing is closed that is not in the scorer's store, or refused by it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.contract.facts import Restored
from broker.contract.messages import Refusal
from kiosk.journal import Journal
from tests.kiosk.journals import HAPPENED, OURS, Broken, receipt, told


def test_a_receipt_settles_what_it_names_by_id(journal: Journal) -> None:
    one, two, three = told(journal, 3)
    journal.settle(receipt(taken={1: one.id}, refused={2: (two.id, "wrong_round")}))
    assert journal.unsent() == (three,)
    assert journal.refused() == ((2, "wrong_round"),)


def test_a_fact_whose_number_another_device_has_used_gets_a_new_one(journal: Journal) -> None:
    one, two = told(journal, 2)
    journal.settle(receipt(taken={1: "somebody-elses", 2: two.id}, upto=7))
    assert journal.unsent() == (replace(one, seq=8),)
    assert journal.refused() == ()


def test_a_fact_that_was_safe_is_told_again_where_another_devices_stands_in_its_place(journal: Journal) -> None:
    """The store was put back to an older copy, and a spare device went on from there."""
    one, two = told(journal, 2)
    journal.settle(receipt(taken={1: one.id, 2: two.id}))
    journal.settle(receipt(taken={1: one.id, 2: "somebody-elses"}))
    assert journal.unsent() == (replace(two, seq=3),)


@pytest.mark.parametrize("codes", [("another_device", "conflict"), ("conflict", "another_device")])
def test_a_fact_that_was_refused_for_its_device_gets_a_new_number_once_it_clashes(
    journal: Journal, codes: tuple[str, str]
) -> None:
    """Even where one receipt says both."""
    (one,) = told(journal, 1)
    journal.settle(receipt(refused={1: (one.id, "another_device")}))
    both = tuple(Refusal(seq=1, id=one.id, code=code) for code in codes)
    journal.settle(replace(receipt(taken={1: "somebody-elses"}), refused=both))
    assert (journal.unsent(), journal.refused()) == ((replace(one, seq=2),), ())


def test_that_an_id_is_there_under_another_number_is_nothing_to_call_about(journal: Journal) -> None:
    (one,) = told(journal, 1)
    journal.settle(receipt(refused={1: (one.id, "id_reused")}))
    assert (journal.unsent(), journal.refused()) == ((), ())


def test_all_that_clash_keep_their_order(journal: Journal) -> None:
    messages = told(journal, 4)
    conflicts = {one.seq: (one.id, "conflict") for one in reversed(messages[1:])}
    journal.settle(receipt(taken={1: messages[0].id}, refused=conflicts, upto=4))
    assert [(one.seq, one.id) for one in journal.unsent()] == [(5 + at, one.id) for at, one in enumerate(messages[1:])]


def test_a_fact_with_a_new_number_is_settled_by_its_id(journal: Journal) -> None:
    (one,) = told(journal, 1)
    journal.settle(receipt(taken={1: "somebody-elses"}))
    journal.settle(receipt(taken={1: "somebody-elses", 2: one.id}))
    assert (journal.unsent(), journal.refused()) == ((), ())


def test_a_refusal_of_another_devices_fact_is_none_of_ours(journal: Journal) -> None:
    (one,) = told(journal, 1)
    journal.settle(receipt(refused={1: ("somebody-elses", "wrong_round")}))
    assert (journal.unsent(), journal.refused()) == ((one,), ())


def test_a_receipt_for_what_we_never_said_changes_nothing(journal: Journal) -> None:
    (one,) = told(journal, 1)
    journal.settle(receipt(taken={2: one.id, 9: "somebody-elses"}))
    assert journal.unsent() == (one,)


def test_what_was_taken_after_all_is_safe(journal: Journal) -> None:
    (one,) = told(journal, 1)
    journal.settle(receipt(refused={1: (one.id, "not_planned")}))
    journal.settle(receipt(taken={1: one.id}))
    assert (journal.unsent(), journal.refused()) == ((), ())


def test_a_refusal_that_comes_late_makes_nothing_unsafe(journal: Journal) -> None:
    (one,) = told(journal, 1)
    journal.settle(receipt(taken={1: one.id}))
    journal.settle(receipt(upto=1, refused={1: (one.id, "wrong_round")}))
    assert (journal.unsent(), journal.refused()) == ((), ())


@pytest.mark.parametrize(
    ("lost", "again"),
    [
        ({"upto": 0}, [1, 2, 3]),
        ({"upto": 3, "gaps": (1, 2)}, [1, 2]),
        ({"upto": 2, "store": "a-new-store"}, [1, 2, 3]),
    ],
)
def test_what_the_scorers_store_has_lost_is_to_be_sent_again(
    journal: Journal, lost: dict[str, Any], again: list[int]
) -> None:
    messages = told(journal, 3)
    journal.settle(receipt(taken={one.seq: one.id for one in messages}))
    journal.settle(receipt(**lost))
    assert [one.seq for one in journal.unsent()] == again


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


SOMETIMES = st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=12)


@given(SOMETIMES)
def test_whatever_receipts_came_before_the_last_one_tells_how_things_stand(
    tmp_path_factory: pytest.TempPathFactory, before: list[tuple[int, bool]]
) -> None:
    with closing(Journal(tmp_path_factory.mktemp("receipts") / "table.sqlite", OURS)) as journal:
        journal._store.execute("PRAGMA synchronous=OFF")  # no power fails here
        messages = {one.seq: one for one in told(journal, 4)}
        for seq, taken in before:
            named = {seq: messages[seq].id} if taken else {}
            no = {} if taken else {seq: (messages[seq].id, "wrong_round")}
            journal.settle(receipt(taken=named, refused=no, upto=4))
        journal.settle(
            receipt(taken={2: messages[2].id, 4: messages[4].id}, gaps=(1, 3), refused={3: (messages[3].id, "late")})
        )
        assert {one.seq for one in journal.unsent()} | {seq for seq, _ in journal.refused()} == {1, 3}


def test_a_restored_fact_comes_back_from_the_outbox_as_it_went_in(journal: Journal) -> None:
    fact = Restored(round=1, deal=1, verified=True, form="a" * 64, refusals=3)
    (message,) = journal.record(HAPPENED, [fact], wall=5)
    assert journal.unsent() == (message,)
