"""How the active scorer tracks its standby, and when a standby takes over."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.errors import ScorerBusy, ScorerReplaced, StandbyBehind
from broker.protocol import SigningKey
from broker.scorer.lease import TAKEOVER, Lease
from broker.scorer.standby import (
    FAREWELL_S,
    KNOWN_S,
    LEAVING_S,
    MISSED_S,
    SILENT_S,
    Peer,
    StandbyWatch,
    Takeover,
    read_peer,
    secret_of,
    write_peer,
)
from tests.broker.scorer.hall import Hall
from tests.broker.scorer.small import state, whole_log
from tests.broker.scorer.test_lease import state as scorer_state
from tests.patience import PATIENCE_S

PEER = Peer("active", "https://10.0.0.6:8136", "10.0.0.6:1883", "10.0.0.5:1883")


class Seen:
    """A watch with a clock and a journal height that tests set."""

    def __init__(self) -> None:
        self.now, self.height = 100.0, 0
        self.watch = StandbyWatch(lambda: self.height, lambda: self.now)

    def heard(self, have: int) -> None:
        self.watch.heard(have, PEER)


def test_without_a_standby_there_is_no_waiting_and_no_alert() -> None:
    seen = Seen()
    seen.watch.decided = 7
    seen.watch.wait()
    assert (seen.watch.state, seen.watch.concerns()) == (None, [])


def test_the_desk_waits_until_the_standby_has_its_decision() -> None:
    seen = Seen()
    seen.height = seen.watch.decided = 7
    seen.heard(6)
    with ThreadPoolExecutor(1) as beside:
        waiting = beside.submit(seen.watch.wait)
        assert not waiting.done()
        seen.heard(7)
        waiting.result(PATIENCE_S)


def test_the_desk_does_not_wait_for_a_silent_standby() -> None:
    seen = Seen()
    seen.heard(0)
    seen.height = seen.watch.decided = 7
    seen.now += SILENT_S
    seen.watch.wait()
    assert seen.watch.state == (PEER.desk, 7, SILENT_S, False)


def test_a_standby_not_heard_yet_is_missed_from_the_start() -> None:
    seen = Seen()
    seen.watch.peer = PEER
    assert (seen.watch.state, seen.watch.concerns()) == ((PEER.desk, 0, 0.0, False), [])
    seen.now += MISSED_S
    assert [one.code for one in seen.watch.concerns()] == ["standby_lost"]


def test_the_loss_and_the_return_of_a_standby_are_reported_once_each() -> None:
    seen = Seen()
    seen.heard(0)
    assert seen.watch.concerns() == []
    seen.now += MISSED_S
    assert [one.code for one in seen.watch.concerns()] == ["standby_lost"]
    assert seen.watch.concerns() == []
    seen.heard(0)
    assert [one.code for one in seen.watch.concerns()] == ["standby_back"]
    assert seen.watch.concerns() == []


def test_a_standby_may_take_over_once_it_has_everything_and_nothing_waits() -> None:
    seen = Seen()
    seen.height = 3
    seen.heard(2)
    seen.watch.hand_over()
    assert seen.watch.leaving
    steps = []
    for have, settled in ((2, True), (3, False), (3, True)):
        seen.heard(have)
        steps.append((seen.watch.must_end(settled=settled), seen.watch.confirm_handover()))
    assert steps == [(False, False), (False, False), (False, True)]
    seen.now += FAREWELL_S
    assert seen.watch.must_end(settled=True)


def test_a_scorer_whose_standby_does_not_ask_again_goes_on() -> None:
    seen = Seen()
    seen.height = 3
    seen.heard(3)
    seen.watch.hand_over()
    seen.now += FAREWELL_S + 1
    assert not seen.watch.must_end(settled=True)
    seen.now += LEAVING_S
    assert (seen.watch.leaving, seen.watch.confirm_handover(), seen.watch.must_end(settled=True)) == (False,) * 3


def test_a_standby_that_started_over_may_not_take_over() -> None:
    seen = Seen()
    seen.height = 3
    seen.heard(3)
    seen.watch.hand_over()
    assert not seen.watch.must_end(settled=True)
    seen.heard(0)
    assert (seen.watch.confirm_handover(), seen.watch.handed_over) == (False, False)


def test_a_scorer_does_not_hand_over_to_a_standby_that_vanishes() -> None:
    seen = Seen()
    seen.height = 3
    seen.heard(2)
    seen.watch.hand_over()
    seen.now += LEAVING_S + 1
    assert not seen.watch.leaving
    with pytest.raises(StandbyBehind):
        seen.watch.hand_over()


def test_a_scorer_that_hands_over_accepts_nothing_more_and_ends(hall: Hall) -> None:
    one, two, *_ = whole_log(1)
    hall.hear(one)
    height = hall.journal.height
    hall.scorer.standby.heard(height, PEER)
    hall.scorer.standby.hand_over()
    hall.hear(two)
    assert hall.journal.height == height
    asked = ThreadPoolExecutor(1).submit(hall.scorer.ask, lambda: None)
    while not asked.done():
        hall.scorer.step(timeout=0.1)
    assert isinstance(asked.exception(), ScorerBusy)
    hall.scorer.standby._confirmed_at = 0.0
    with pytest.raises(ScorerReplaced):
        hall.scorer.step(timeout=0)
    assert hall.scorer.publisher.moved == PEER.broker


@pytest.mark.parametrize(
    ("known", "came", "enough"), [(0, 1, True), (1, 1, True), (4, 2, False), (4, 3, True), (5, 3, True)]
)
def test_a_standby_takes_over_when_more_than_half_of_the_tables_come(*, known: int, came: int, enough: bool) -> None:
    takeover = Takeover(0.0)
    takeover.heard(0.0, known)
    for table in range(1, came + 1):
        takeover.came(table)
        takeover.came(table)
    assert takeover.reason == ("tables" if enough else "")


def test_tables_that_came_before_the_first_scorer_was_heard_again_do_not_count() -> None:
    takeover = Takeover(0.0)
    takeover.heard(0.0, 3)
    takeover.came(1)
    takeover.heard(1.0, 3)
    takeover.came(2)
    assert takeover.reason == ""
    assert not takeover.silent(1.0 + SILENT_S - 0.1)
    assert takeover.silent(1.0 + SILENT_S)


@pytest.mark.parametrize("back", [1.0, KNOWN_S + 1])  # after a restart, and after a longer outage
def test_one_table_is_not_enough_although_a_restarted_scorer_hears_few(back: float) -> None:
    takeover = Takeover(0.0)
    takeover.heard(0.0, 9)
    takeover.heard(back, 0)  # it was restarted and has received no beat yet
    takeover.came(1)
    reasons = [takeover.reason]
    for second in range(1, int(KNOWN_S)):
        takeover.heard(back + second, 0)
    takeover.heard(back + KNOWN_S, 3)  # by then it has heard from all tables that are there
    takeover.came(1)
    takeover.came(2)
    assert [*reasons, takeover.reason] == ["", "tables"]


def test_a_scorer_counts_tables_that_were_heard_before_its_start(hall: Hall) -> None:
    hall.hear(*(replace(state(table), version="0.1.0") for table in (1, 2, 3)), state(4, lifecycle="lost"))
    assert hall.scorer.tables_heard == 3


def test_a_takeover_outranks_restarts_of_the_first_scorer() -> None:
    first, second = Lease("f", 7 + 1), Lease("a", 7 + TAKEOVER + 1)
    assert first.yields_to(scorer_state(second.run, second.term))
    assert not second.yields_to(scorer_state(first.run, first.term))


def test_the_other_machine_is_stored_and_an_unreadable_file_is_ignored(tmp_path: Path) -> None:
    assert read_peer(tmp_path) is None
    write_peer(tmp_path, PEER)
    assert read_peer(tmp_path) == PEER
    (tmp_path / "standby.json").write_text("{")
    assert read_peer(tmp_path) is None


def test_each_event_key_gives_its_own_secret_which_is_not_the_key() -> None:
    one, other = SigningKey.new(), SigningKey.new()
    assert secret_of(one) == secret_of(SigningKey.from_bytes(one.to_bytes()))
    assert len({secret_of(one), secret_of(other), one.to_bytes().hex()}) == 3
