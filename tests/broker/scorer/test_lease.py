"""One active scorer per event: which may start at once, which has to ask first, and which gives way."""

from pathlib import Path
from typing import Any, Final

import pytest

from broker.errors import ScorerReplaced
from broker.protocol import ScorerAsked, ScorerState, encode, topics
from broker.scorer.lease import (
    AGAIN_S,
    ANSWER_S,
    LONG_S,
    TAKEOVER,
    Lease,
    LeaseRequest,
    new_lease,
    place_of,
    store_lease,
    stored_lease,
)
from tests.broker.scorer.hall import Hall, open_journal
from tests.broker.scorer.small import NAME

HERE: Final = "machine boot 1:2"
BEFORE: Final = Lease("run-before", 7, HERE)


def state(run: str = BEFORE.run, term: int = 7, **more: Any) -> ScorerState:  # noqa: ANN401 - any of its fields
    """Return the state that a scorer publishes."""
    said = {"lifecycle": "active", "store": "store-0001", "version": "0.1.0"} | more
    return ScorerState(id="state-0001", event=NAME, seq=1, run=run, term=term, **said)


def asked(run: str, term: int = BEFORE.term, *, starts: bool = True) -> ScorerAsked:
    return ScorerAsked(id="asked-0001", event=NAME, run=run, term=term, starts=starts)


def begun(before: Lease | None = BEFORE, place: str = HERE, *kept: ScorerState, alone: bool = False) -> LeaseRequest:
    """Ask at a broker that retains a scorer's state, or none; it delivers that before our own question comes back."""
    request = LeaseRequest(before, place, alone=alone)
    request.connected(100.0)
    assert request.may_ask(100.0)
    for one in kept:
        request.heard(one, 100.0)
    request.heard(asked(request.run), 100.0)
    return request


def test_a_restart_after_a_kill_on_the_same_store_and_machine_does_not_wait() -> None:
    assert begun(BEFORE, HERE, state()).look(100.0) == "taken"


def test_the_very_first_start_does_not_wait_at_a_broker_of_its_own() -> None:
    assert begun(None, alone=True).look(100.0) == "taken"


@pytest.mark.parametrize("before", [None, BEFORE])
def test_a_broker_without_a_retained_scorer_does_not_prove_that_none_is_active(before: Lease | None) -> None:
    """nats-server may not have the retained message yet (docs/brokers.md)."""
    request = begun(before)
    assert [request.look(100.0 + after) for after in (0.0, ANSWER_S - 0.1)] == ["asking", "asking"]
    request.heard(state("run-of-another", 7, answers=request.run), 100.0 + ANSWER_S)
    assert request.look(100.0 + ANSWER_S) == "elsewhere"
    assert begun(before).look(100.0 + ANSWER_S) == "taken"


def test_a_copy_is_refused_while_the_first_one_answers() -> None:
    request = begun(BEFORE, "another machine", state())
    assert request.look(100.0) == "asking"
    request.heard(state(answers=request.run), 100.1)
    assert request.look(100.1) == "elsewhere"


def test_a_copy_takes_over_if_nobody_answers_and_repeats_its_question_until_then() -> None:
    request = begun(BEFORE, "another machine", state())
    assert not request.may_ask(100.0 + AGAIN_S / 2)
    assert request.may_ask(100.0 + AGAIN_S)
    assert [request.look(100.0 + after) for after in (ANSWER_S - 0.1, ANSWER_S)] == ["asking", "taken"]


def test_a_copy_does_not_wait_if_the_first_scorer_has_signed_off() -> None:
    assert begun(BEFORE, "another machine", state(lifecycle="gone")).look(100.0) == "taken"


def test_a_copy_asks_although_the_broker_knows_no_scorer() -> None:
    assert begun(BEFORE, "another machine").look(100.0) == "asking"


def test_after_a_takeover_the_same_place_does_not_prove_that_no_scorer_is_active() -> None:
    request = begun(BEFORE, HERE, state("run-of-a-copy", 8))
    assert request.look(100.0) == "asking"
    request.heard(state("run-of-a-copy", 8, answers=request.run), 100.0)
    assert request.look(100.0) == "elsewhere"


@pytest.mark.parametrize("lifecycle", ["active", "gone"])
def test_a_scorer_replaced_by_a_standby_waits_long_for_its_answer(lifecycle: str) -> None:
    request = begun(BEFORE, HERE, state("run-of-the-standby", BEFORE.term + TAKEOVER, lifecycle=lifecycle))
    assert [request.look(100.0 + after) for after in (ANSWER_S, LONG_S - 0.1)] == ["asking", "asking"]
    request.heard(state("run-of-the-standby", BEFORE.term + TAKEOVER, answers=request.run), 100.0 + LONG_S)
    assert request.look(100.0 + LONG_S) == "elsewhere"


def test_a_scorer_replaced_by_a_standby_that_never_answers_finally_goes_on() -> None:
    request = begun(BEFORE, HERE, state("run-of-the-standby", BEFORE.term + TAKEOVER))
    assert request.look(100.0 + LONG_S) == "taken"


def test_a_standby_asking_for_another_scorer_was_never_replaced() -> None:
    assert begun(Lease(""), "", state("run-of-the-first", 1 + TAKEOVER)).look(100.0 + ANSWER_S) == "taken"


def test_a_standby_that_took_over_does_not_give_way_to_its_restarted_predecessor() -> None:
    request = begun(Lease("run-of-the-standby", BEFORE.term + TAKEOVER), "its machine", state(), alone=True)
    request.heard(state("run-that-came-back", BEFORE.term + 1, answers=request.run), 100.1)
    assert [request.look(100.0 + after) for after in (0.2, ANSWER_S)] == ["asking", "taken"]
    assert Lease("run-that-came-back", BEFORE.term + 1).yields_to(state(request.run, request.lease.term))


def test_the_time_for_an_answer_begins_when_the_broker_delivers_the_question() -> None:
    request = LeaseRequest(BEFORE, "another machine")
    request.connected(100.0)
    assert request.look(100.0 + 3 * ANSWER_S) == "asking"
    request.heard(asked(request.run), 110.0)
    assert [request.look(110.0 + after) for after in (ANSWER_S - 0.1, ANSWER_S)] == ["asking", "taken"]


def test_no_lease_is_taken_if_the_broker_never_delivers_the_question() -> None:
    request = LeaseRequest(BEFORE, HERE)
    request.connected(100.0)
    assert [request.deaf(100.0 + after) for after in (LONG_S - 0.1, LONG_S)] == [False, True]
    assert request.look(100.0 + 10 * LONG_S) == "asking"
    request.heard(asked(request.run), 100.0 + 11 * LONG_S)
    assert (request.deaf(100.0 + 12 * LONG_S), request.look(100.0 + 12 * LONG_S)) == (False, "taken")


def test_an_unknown_place_proves_nothing() -> None:
    assert begun(Lease("run-before", 7, ""), "", state()).look(100.0) == "asking"


def test_with_a_broker_of_its_own_the_previous_run_is_dead_anywhere() -> None:
    assert begun(BEFORE, "another machine", state(), alone=True).look(100.0) == "taken"


def test_an_answer_to_another_scorer_is_ignored() -> None:
    request = begun(BEFORE, "another machine", state(answers="run-of-another"))
    assert request.look(100.0) == "asking"


def test_of_two_scorers_that_ask_at_once_one_gives_way() -> None:
    one, two = (LeaseRequest(BEFORE, "another machine") for _ in range(2))
    for request in (one, two):
        request.connected(100.0)
    for request in (one, two):
        request.heard(asked(one.run), 100.0)
        request.heard(asked(two.run), 100.0)
    assert {one.look(100.0), two.look(100.0)} == {"asking", "elsewhere"}


def test_of_two_starting_scorers_the_one_with_the_higher_term_goes_first() -> None:
    request = begun(BEFORE, "another machine", state())
    request.heard(asked("z" * 32, BEFORE.term - 1), 100.0)
    assert request.look(100.0) == "asking"
    request.heard(asked("0" * 32, BEFORE.term + 1), 100.0)
    assert request.look(100.0) == "elsewhere"


def test_a_scorer_that_only_asks_prevents_no_start() -> None:
    """A scorer that hands over asks at the other machine's broker until it ends, and a standby asks at its own."""
    request = begun(BEFORE, "another machine", state())
    for term in (0, BEFORE.term, BEFORE.term + TAKEOVER):
        request.heard(asked("z" * 32, term, starts=False), 100.0)
    assert request.look(100.0) == "asking"


@pytest.mark.parametrize(("term", "outcome"), [(6, "asking"), (7, "elsewhere"), (8, "elsewhere")])
def test_a_scorer_that_only_asks_gives_way_to_a_start_unless_its_term_is_higher(term: int, outcome: str) -> None:
    request = LeaseRequest(BEFORE, "", starts=False)
    request.connected(100.0)
    request.heard(asked("0" * 32, term), 100.0)
    assert request.look(100.0) == outcome


def test_a_waiting_scorer_takes_over_when_the_last_will_arrives() -> None:
    request = begun(BEFORE, "another machine", state())
    request.heard(state(answers=request.run), 100.1)
    assert request.look(100.1) == "elsewhere"
    request.heard(state(lifecycle="gone"), 101.0)
    request.again(101.0)
    request.heard(asked(request.run), 101.0)
    assert request.look(101.0) == "taken"


def test_a_new_term_is_above_all_known_ones() -> None:
    assert begun(BEFORE, HERE, state("run-of-a-copy", 40, lifecycle="gone")).lease.term == 41
    assert begun(BEFORE, HERE, state()).lease.term == 8


def test_no_lease_is_taken_without_a_connection() -> None:
    request = begun(BEFORE, "another machine", state())
    request.disconnected()
    assert request.look(100.0 + 10 * ANSWER_S) == "waiting"


@pytest.mark.parametrize(
    ("other", "yields"),
    [
        (state("run-zzzz", 3), True),
        (state("run-aaaa", 3), True),
        (state("run-zzzz", 2), True),
        (state("run-aaaa", 2), False),
        (state("run-zzzz", 1), False),
        (state("run-zzzz", 3, lifecycle="gone"), False),
        (state("run-mmmm", 2), False),
    ],
)
def test_of_two_active_scorers_exactly_one_stays_the_higher_term_first(
    other: ScorerState,
    yields: bool,  # noqa: FBT001 - what is expected
) -> None:
    assert Lease("run-mmmm", 2).yields_to(other) is yields


def test_a_replaced_scorer_ends_and_leaves_the_standings_file_alone(hall: Hall) -> None:
    hall.connect(up=True)
    with pytest.raises(ScorerReplaced):
        hall.arrive(topics.SCORER.at(NAME), encode(state("run-of-a-copy", 9)))


def lifecycles(hall: Hall) -> list[str]:
    """Return the lifecycles that the scorer has published."""
    return [one.lifecycle for one in hall.ear.heard("/scorer") if isinstance(one, ScorerState)]


def test_a_replaced_scorer_does_not_publish_that_it_is_gone(hall: Hall) -> None:
    hall.connect(up=True)
    hall.scorer.step(timeout=0)
    with pytest.raises(ScorerReplaced):
        hall.arrive(topics.SCORER.at(NAME), encode(state("run-of-a-copy", 9)))
    hall.scorer.publisher.close()
    assert lifecycles(hall) == ["active"]


def test_an_active_scorer_replaces_a_retained_last_will_at_once(hall: Hall) -> None:
    """The last will of a scorer that was frozen comes after the copy has taken its place."""
    hall.connect(up=True)
    hall.scorer.step(timeout=0)
    hall.arrive(topics.SCORER.at(NAME), encode(state(lifecycle="gone")))
    hall.scorer.step(timeout=0)
    assert lifecycles(hall) == ["active", "active"]


def test_its_own_state_is_ignored_when_it_comes_back(hall: Hall) -> None:
    hall.connect(up=True)
    hall.arrive(topics.SCORER.at(NAME), encode(state(hall.scorer.publisher.lease.run, 0)))
    hall.arrive(topics.SCORER.at(NAME), b"rubbish")
    assert hall.alerts() == []


def test_the_lease_is_stored(tmp_path: Path) -> None:
    lease = new_lease()
    with open_journal(tmp_path) as journal:
        assert stored_lease(journal) is None
        store_lease(journal, lease)
    with open_journal(tmp_path) as journal:
        assert stored_lease(journal) == lease


def test_a_copy_of_a_store_has_another_place(tmp_path: Path) -> None:
    store, copy = tmp_path / "scorer.sqlite", tmp_path / "copy.sqlite"
    store.write_bytes(b"facts")
    copy.write_bytes(store.read_bytes())
    assert place_of(store) == place_of(store) != place_of(copy)
    assert place_of(tmp_path / "nothing") == ""
