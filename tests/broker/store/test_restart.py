"""After a restart, and on the machine that takes over, the desk shows what it showed before."""

from functools import partial
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from broker.protocol import (
    Call,
    Confirmed,
    Fact,
    LetIn,
    Overridden,
    Paused,
    PinWrong,
    Ruled,
    Seated,
    TimeAdded,
    Void,
)
from broker.protocol.arbiter_session import SessionKey
from broker.scorer.tables import Since
from tests.broker.rulings.ruled import HEAD, correct, draft
from tests.broker.scorer.hall import NOW, Hall, make_hall
from tests.broker.scorer.small import NAME, OTHER_FORM, OUTCOMES, event, fact, restored, result, steps, whole_play
from tests.broker.store.stores import Kept

DAY: Final = 86_400_000
MINUTE: Final = 60_000

HERE: Final = event().bookings[1, 1]
SWAPPED: Final = {**HERE.players, "east": HERE.players["west"], "west": HERE.players["east"]}


def of(table: int) -> dict[str, Any]:
    """Return the first play of a table."""
    return {"round": 1, "deal": event().bookings[table, 1].deal}


WALLS, _, CONFIRMED, PRESSED, _ = steps(1)

STORY: Final[tuple[tuple[int, int, Fact], ...]] = (
    (1, 1, restored(1, verified=False)),
    (1, 2, Seated(**of(1), players=SWAPPED)),
    (1, 3, Overridden(**of(1), guards=("player_played_deal",), reason="short of players")),
    (1, 4, CONFIRMED),
    (3, 1, restored(3, form=OTHER_FORM)),
    (3, 2, Call(**of(3), open=True)),
    (1, 5, Call(**of(1), open=True)),
    (1, 6, PRESSED),
    (1, 7, replace(result(1), players=SWAPPED)),
    (1, 8, Ruled(**of(1), decision=Void(), author="Tao", role="table_arbiter", reason="false hu")),
    *((2, seq, said) for seq, said in enumerate(steps(2), 1)),
    *((4, seq, said) for seq, said in enumerate(steps(4), 1)),
    (4, 9, Confirmed(round=2, deal=event().bookings[4, 2].deal)),
    *((2, seq, said) for seq, said in enumerate(steps(2, 2)[:3], 6)),
    (3, 1, restored(3)),  # reported in two ways
    (3, 3, PinWrong(**of(3), tries=2)),
    (3, 4, LetIn(**of(3), author="Tao", by="desk")),
    (3, 5, Paused(**of(3), begin=True, author="Tao", reason="tiles fell")),
    (3, 6, TimeAdded(**of(3), minutes=7, author="Tao", reason="tiles fell")),
)

ALERTED: Final = [
    *("conflict", "gap", "paper_differs", "settled_before", "ruled_at_table"),
    *("fouled", "overridden", "seating_differs", "unverified"),
]


def heard(hall: Hall) -> None:
    """Let the messages arrive, one a minute, from tables whose clocks are a day off. Two plays were settled before."""
    room, sessions = hall.scorer.rulings.room, SessionKey.of_event(NAME, hall.scorer.publisher.key)
    hall.scorer.rulings.give(draft(room, Void(), (2, 1)), HEAD)
    hall.scorer.rulings.give(draft(room, replace(correct(OUTCOMES[2], None), source="paper"), (4, 1)), HEAD)
    for minute, (table, seq, said) in enumerate(STORY):
        hall.clock.read = partial(int, NOW + minute * MINUTE)
        off = DAY if table % 2 else -DAY
        session = sessions.order(table, "admit", "Tao", "order-0001", NOW)
        told = replace(said, session=session) if isinstance(said, LetIn | Paused | TimeAdded) else said
        hall.hear(fact(table, seq, told, at=NOW + minute * MINUTE + off))


class Told(NamedTuple):
    """What the desk shows."""

    alerts: list[tuple[int, str, int | None, dict[str, int | str]]]
    queue: list[int]
    calling: dict[int, Since]
    playing: dict[int, Since]
    pausing: dict[int, Since]
    visits: list[tuple[int, str]]


def told(hall: Hall) -> Told:
    """Return what the desk shows: alerts, calls in order, since when tables play, call and pause, and arbiters."""
    alerts = [(one.at, one.code, one.table, one.values) for one in hall.scorer.feed.current.alerts]
    times = hall.scorer.state.tables.times
    visits = [(one.at, one.kind) for one in hall.scorer.rulings.room.tables.visits.oldest_first()]
    return Told(alerts, times.queue(), dict(times.calling), dict(times.playing), dict(times.pausing), visits)


def test_alerts_calls_and_clocks_are_the_same_after_a_restart(kept: Kept) -> None:
    with kept.journal() as journal:
        hall = make_hall(kept.folder, journal)
        heard(hall)
        before = told(hall)
    with kept.journal() as journal:
        after = make_hall(kept.folder, journal)
        assert told(after) == before
        after.connect(up=True)
        assert after.alerts() == []  # published once, as listeners have already received them
    assert ([code for _, code, *_ in before.alerts], before.queue) == (ALERTED, [3, 1])
    last = len(STORY) - 1
    visited = [(last - 3, "pin_wrong"), (last - 2, "let_in"), (last - 1, "paused"), (last, "time_added")]
    assert before.visits == [(NOW + minute * MINUTE, kind) for minute, kind in visited]
    assert before.pausing == {3: Since(NOW + (last - 1) * MINUTE, 1)}
    minute = next(at for at, (table, seq, _) in enumerate(STORY) if (table, seq) == (4, 9))
    assert before.alerts[1] == (NOW + minute * MINUTE, "gap", 4, {"number": 9})


def test_a_filled_gap_is_not_reported_after_a_restart(kept: Kept) -> None:
    with kept.journal() as journal:
        hall = make_hall(kept.folder, journal)
        walls, *rest = whole_play(1)
        hall.hear(rest[0])
        hall.hear(walls, *rest)
        assert hall.alerts() == [("gap", 1)]
    with kept.journal() as journal:
        assert make_hall(kept.folder, journal).scorer.feed.current.alerts == ()
