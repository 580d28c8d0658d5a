"""An entry of the history shows what its author changed, independent of later rulings and results."""

from broker.protocol import (
    Award,
    Deadline,
    FineRuled,
    Fouled,
    Overridden,
    Reopen,
    Ruled,
    SeatsPlayed,
    Substitute,
    Undo,
    Void,
)
from broker.rulings.preview import RulingChange, RulingChanges
from broker.scorer import EventState
from tests.broker.rulings.ruled import AT, ruling, state_of
from tests.broker.scorer.small import OUTCOMES, event, log, result, whole_play

HERE = (1, 2)


def changes(room: EventState) -> list[RulingChange]:
    return [RulingChanges(event(), room).of(entry) for entry in room.book.entries.values()]


def test_the_history_shows_the_play_before_and_after_each_ruling() -> None:
    room = state_of()
    players = dict(room.play(HERE).players)
    swapped = players | {"east": players["west"], "west": players["east"]}
    for decision in (FineRuled(takes={players["east"]: 4}), SeatsPlayed(players=swapped), Void()):
        room.apply(ruling(room, decision, HERE))
    room.apply(ruling(room, Undo(ruling="ruling-0002")))
    held = [(one.before.play, one.after.play) for one in changes(room) if one.before]
    fines = [(dict(was.fines), dict(now.fines)) for was, now in held if was and now]
    assert fines == [({}, {players["east"]: 4}), *[({players["east"]: 4},) * 2] * 3]
    assert [(was.players, now.players) for was, now in held if was and now] == [
        (players, players),
        (players, swapped),
        (swapped, swapped),
        (swapped, players),
    ]
    assert [was.points is None for was, _ in held if was] == [False, False, False, True]


def test_a_ruling_before_the_result_is_shown_for_an_unplayed_play() -> None:
    room = state_of([])
    room.apply(ruling(room, Void(), HERE))
    for message in whole_play(*HERE, forward=True):
        room.apply(message)
    (one,) = changes(room)
    assert one.before
    assert one.before.play
    assert (one.before.play.settled, one.after.play and one.after.play.settled) == (False, True)


def test_the_earlier_state_is_unknown_once_the_table_has_entered_another_result() -> None:
    room = state_of(whole_play(*HERE, forward=True))
    room.apply(ruling(room, FineRuled(takes={room.play(HERE).players["east"]: 4}), HERE))
    deal = event().bookings[HERE].deal
    reopened = Ruled(round=2, deal=deal, author="Tao", role="table_arbiter", decision=Reopen(), reason="upside down")
    corrected = Overridden(round=2, deal=deal, guards=("declarations_corrected",), reason="it was south")
    *again, anew = log(1, reopened, corrected, result(*HERE, OUTCOMES[2]), first=7)
    for message in again:
        room.apply(message)
    room.apply(ruling(room, Award(gives={room.play(HERE).players["east"]: 4}), HERE))
    assert None not in [one.before for one in changes(room)]
    room.apply(anew)
    assert [one.before for one in changes(room)] == [None, None, None]


def test_players_groups_and_deadlines_are_shown_before_and_after() -> None:
    room = state_of([])
    for decision in (Substitute(player="p07", name=name, first_round=3) for name in ("Ada", "Bo")):
        room.apply(ruling(room, decision))
    room.apply(ruling(room, Fouled(groups=((1, 2), (3, 4))), deal=2))
    room.apply(ruling(room, Deadline(at=AT)))
    found = [(one.before, one.after) for one in changes(room)]
    shown = [[(one.sitting, one.groups, one.until) for one in pair if one] for pair in found]
    assert shown == [
        [("Player 7", (), None), ("Ada", (), None)],
        [("Ada", (), None), ("Bo", (), None)],
        [(None, (), None), (None, ((1, 2), (3, 4)), None)],
        [(None, (), None), (None, (), AT)],
    ]
