"""Infractions: the next penalty, the register, dead hands, and appeals."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.protocol import AnyDecision, AppealDecided, Appealed, FineRuled, Refused, Ruled, Undo
from broker.protocol.rulings import Measure, Verdict
from broker.rules import load_rules
from broker.rules.infractions import FALSE_HU, Penalty, fines_of
from broker.rulings import RulingAuthor, RulingEntry
from broker.rulings.final import open_matters
from broker.rulings.infractions import appeals, penalty_for, register
from broker.scorer import EventState
from tests.broker.rulings.ruled import HEAD, TABLE, draft
from tests.broker.scorer.hall import NOW, Hall, make_hall, open_journal
from tests.broker.scorer.small import event, fact, whole_event

PLAY = (1, 2)
HERE = event().bookings[PLAY].players
WINNER, OTHER = HERE["south"], HERE["west"]
"""Players of `PLAY`, which South and North won."""
MINUTE = 60_000


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    with open_journal(tmp_path) as journal:
        made = make_hall(tmp_path, journal)
        made.hear(*whole_event())
        yield made


def give(
    hall: Hall, decision: AnyDecision, author: RulingAuthor = HEAD, *, play: tuple[int, int] | None = None
) -> RulingEntry:
    return hall.scorer.rulings.give(draft(hall.scorer.state, decision, play), author)


def code_of(act: Callable[[], object]) -> str:
    with pytest.raises(Refused) as refused:
        act()
    return refused.value.code


def imps(room: EventState) -> dict[str, int]:
    return {row.player: int(row.imp) for row in room.snapshot().standings}


def sound(player: str, measure: Measure = "warning", imp: int = 0) -> FineRuled:
    return FineRuled(takes={player: imp}, measure=measure, infraction="sound")


def test_penalties_increase_with_each_infraction_that_was_not_undone(hall: Hall) -> None:
    room, before = hall.scorer.state, imps(hall.scorer.state)
    assert penalty_for(room, OTHER, "sound") == Penalty("warning")
    warned = give(hall, sound(OTHER), play=PLAY)
    assert (imps(room), warned.kind) == (before, "warning")
    assert penalty_for(room, OTHER, "sound") == Penalty("fine", (4,))
    assert penalty_for(room, WINNER, "sound") == Penalty("warning")
    give(hall, sound(OTHER, "fine", 4))
    assert imps(room)[OTHER] == before[OTHER] - 4
    assert penalty_for(room, OTHER, "sound") == Penalty("fine", (8,))
    give(hall, Undo(ruling=warned.id))
    assert penalty_for(room, OTHER, "sound") == Penalty("fine", (4,))


def test_the_register_lists_rulings_and_false_hu_fined_at_tables(hall: Hall) -> None:
    room = hall.scorer.state
    tables = register(room)
    assert {(one.infraction, one.measure, one.imp, one.reason, one.ruling) for one in tables} == {
        (FALSE_HU, "fine", 4, "", None)
    }
    give(hall, sound(OTHER), play=PLAY)
    (more,) = [one for one in register(room) if one.ruling]
    assert (more.player, more.infraction, more.measure, more.play, more.author, more.reason) == (
        *(OTHER, "sound", "warning", PLAY, HEAD.name, "seen by the arbiter"),
    )
    again = EventState(event())
    again.load(hall.journal.messages())
    assert {replace(one, at=0) for one in register(again)} == {replace(one, at=0) for one in register(room)}


def test_a_ruling_at_a_table_counts_for_the_next_penalty_at_the_desk(hall: Hall) -> None:
    """All tables have finished, and a ruling made before the result arrives late."""
    room = hall.scorer.state
    ruled = Ruled(
        round=PLAY[1],
        deal=event().bookings[PLAY].deal,
        decision=sound(OTHER),
        author="Arbiter at the table (PIN)",
        role="table_arbiter",
        reason="Hu or its value said aloud",
    )
    last = max(message.seq for message in whole_event() if message.table == PLAY[0])
    hall.hear(fact(PLAY[0], last + 1, ruled))
    (warned,) = [one for one in register(room) if one.player == OTHER and one.ruling]
    assert (warned.measure, warned.infraction, warned.play) == ("warning", "sound", PLAY)
    assert penalty_for(room, OTHER, "sound") == Penalty("fine", (4,))


def test_a_false_hu_at_a_table_counts_for_the_next_penalty_at_the_desk(hall: Hall) -> None:
    room = hall.scorer.state
    fined = register(room)[0].player
    assert penalty_for(room, fined, FALSE_HU) == Penalty("fine", (4, 8))


def test_a_fine_that_the_profile_lacks_needs_an_exception(hall: Hall) -> None:
    strange = sound(OTHER, "fine", 5)
    assert code_of(lambda: give(hall, strange, play=PLAY)) == "fine_not_in_profile"
    entry = give(hall, replace(strange, exception=True), play=PLAY)
    assert isinstance(entry.decision, FineRuled)
    assert entry.decision.exception


def test_a_fine_without_an_infraction_must_be_one_of_the_profile(hall: Hall) -> None:
    assert code_of(lambda: give(hall, FineRuled(takes={OTHER: 3 + 4}))) == "fine_not_in_profile"
    give(hall, FineRuled(takes={OTHER: 16}))


def test_fines_in_points_are_converted_by_the_profile_s_scale() -> None:
    assert fines_of(load_rules("mcr"), "winning_tile") == {3}
    assert fines_of(load_rules("mcr"), "exposed_tiles") == {2, 3}
    assert fines_of(load_rules("riichi-montreal"), "minor") == {3}


@pytest.mark.parametrize(
    ("decision", "code"),
    [
        (FineRuled(takes={OTHER: 4}, infraction="whistling"), "unknown_infraction"),
        (FineRuled(takes={OTHER: 4}, measure="warning", infraction="sound"), "penalty_wrong"),
        (FineRuled(takes={OTHER: 0}, infraction="sound"), "penalty_wrong"),
        (FineRuled(takes={WINNER: 0}, measure="dead_hand", infraction="wrong_tiles"), "dead_hand_won"),
    ],
)
def test_an_impossible_penalty_is_refused(hall: Hall, decision: FineRuled, code: str) -> None:
    assert code_of(lambda: give(hall, decision, play=PLAY)) == code


def test_a_dead_hand_must_name_a_play(hall: Hall) -> None:
    dead = FineRuled(takes={OTHER: 0}, measure="dead_hand", infraction="wrong_tiles")
    assert code_of(lambda: give(hall, dead)) == "penalty_wrong"


def test_a_win_with_a_dead_hand_is_an_open_matter(tmp_path: Path) -> None:
    with open_journal(tmp_path) as journal:
        hall = make_hall(tmp_path, journal)
        dead = FineRuled(takes={WINNER: 0}, measure="dead_hand", infraction="wrong_tiles")
        entry = give(hall, dead, play=PLAY)
        assert open_matters(hall.scorer.state, NOW).dead_hands == ()
        hall.hear(*whole_event())
        assert open_matters(hall.scorer.state, NOW).dead_hands == (PLAY,)
        give(hall, Undo(ruling=entry.id))
        assert open_matters(hall.scorer.state, NOW).is_empty


def test_an_appeal_is_open_until_it_is_decided_and_a_changed_ruling_is_undone(hall: Hall) -> None:
    room, before = hall.scorer.state, imps(hall.scorer.state)
    fined = give(hall, sound(OTHER, "fine", 4), TABLE, play=PLAY)
    appealed = Appealed(ruling=fined.id, players=(OTHER,))
    give(hall, appealed, TABLE)
    assert (open_matters(room, NOW).appeals, imps(room)[OTHER]) == (1, before[OTHER] - 4)
    assert code_of(lambda: give(hall, appealed)) == "appealed_already"
    decided = AppealDecided(ruling=fined.id, verdict="changed", committee=("Ada", "Bo"))
    assert code_of(lambda: give(hall, decided, TABLE)) == "head_arbiter_only"
    decision_entry = give(hall, decided)
    (appeal,) = appeals(room)
    assert (appeal.verdict, appeal.committee, appeal.is_open, appeal.until) == (
        *("changed", ("Ada", "Bo"), True, fined.at + 30 * MINUTE),
    )
    assert code_of(lambda: give(hall, decided)) == "no_appeal"
    give(hall, Undo(ruling=fined.id))
    assert (open_matters(room, NOW).appeals, imps(room)) == (0, before)
    give(hall, Undo(ruling=decision_entry.id))
    assert open_matters(room, NOW).appeals == 1
    again = EventState(event())
    again.load(hall.journal.messages())
    assert appeals(again) == appeals(room)


@pytest.mark.parametrize("verdict", ["upheld", "rejected"])
def test_an_appeal_that_changes_nothing_is_closed_by_its_decision(hall: Hall, verdict: Verdict) -> None:
    fined = give(hall, sound(OTHER, "fine", 4), play=PLAY)
    give(hall, Appealed(ruling=fined.id, players=(OTHER,)))
    give(hall, AppealDecided(ruling=fined.id, verdict=verdict, committee=("Ada",)))
    assert open_matters(hall.scorer.state, NOW).is_empty


def test_only_the_head_arbiter_can_admit_a_late_appeal_as_an_exception(hall: Hall) -> None:
    fined = give(hall, sound(OTHER, "fine", 4), play=PLAY)
    late = Appealed(ruling=fined.id, players=(OTHER,))
    hall.clock.read = lambda: NOW + 30 * MINUTE + 1
    assert code_of(lambda: give(hall, late)) == "appeal_late"
    admitted = replace(late, exception=True)
    assert code_of(lambda: give(hall, admitted, TABLE)) == "head_arbiter_only"
    give(hall, admitted)


def test_an_appeal_needs_a_ruling_that_counts_and_is_not_part_of_an_appeal(hall: Hall) -> None:
    fined = give(hall, sound(OTHER, "fine", 4), play=PLAY)
    appeal = give(hall, Appealed(ruling=fined.id, players=(OTHER,)))
    again = [Appealed(ruling=ruling, players=(OTHER,)) for ruling in ("nothing-here", appeal.id)]
    assert [code_of(partial(give, hall, one)) for one in again] == ["nothing_to_appeal"] * 2
    decision = AppealDecided(ruling=appeal.id, verdict="upheld", committee=("Ada",))
    assert code_of(lambda: give(hall, decision)) == "no_appeal"
