"""Random rulings in any order: previews match, restarts change nothing, and undos restore the earlier state."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.protocol import (
    SEATS,
    Adjusted,
    AnyDecision,
    Award,
    Discarded,
    Fact,
    FineRuled,
    Overridden,
    PlanChanged,
    Player,
    Refused,
    Reopen,
    Result,
    Ruled,
    Ruling,
    SeatedAnew,
    SeatsPlayed,
    Substitute,
    TakenOver,
    Undo,
    Void,
    Withdrawn,
)
from broker.rulings import PlayKey
from broker.rulings.follow_ups import follow_ups, missed_deals
from broker.rulings.infractions import register
from broker.rulings.preview import RulingEffects
from broker.scorer import EventState
from tests.broker.rulings.ruled import HEAD, contents, correct, draft
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.small import OUTCOMES, event, fact, result, steps_to
from tests.examples import COSTLY

DrawnRuling = tuple[AnyDecision, PlayKey | None]


@contextmanager
def unplayed_hall() -> Iterator[Hall]:
    """Yield the hall of an event without any play."""
    with TemporaryDirectory() as made, open_journal(Path(made)) as journal:
        yield make_hall(Path(made), journal)


def counts(room: EventState) -> list[object]:
    """Return everything that a state counts, without the rulings themselves."""
    keys = sorted(room.planned.bookings)
    plays = [replace(room.play(key), rulings=()) for key in keys]
    return [contents(room), plays, list(room.snapshot().standings), register(room), follow_ups(room.event, room)]


def desk_contents(room: EventState) -> list[object]:
    """Return everything that the desk can show of a state."""
    keys = sorted(room.planned.places)
    tables = [(room.last_message_id(key), room.recorded(key[0]), room.settled(key[0])) for key in keys]
    return [*counts(room), tables, missed_deals(room), [one.ids for one in room.apart_plays()], room.results_then]


def next_facts(random: Random, room: EventState, table: int) -> list[Fact]:
    """Return a table's next facts: another result, or a play by the current or original plan, perhaps incomplete."""
    recorded = room.recorded(table)
    if recorded and random.random() < 0.25 and (table, recorded[-1]) in room.results:
        before = room.results[table, recorded[-1]].fact
        if isinstance(before, Result):
            round_, deal = before.round, before.deal
            reopened = Ruled(
                round=round_, deal=deal, author="Tao", role="table_arbiter", decision=Reopen(), reason="wrong hand"
            )
            players = random.choice([before.players, event().bookings[table, before.round].players])
            new_result = replace(
                result(table, before.round, random.choice(OUTCOMES)), deal=before.deal, players=players
            )
            return [
                reopened,
                Overridden(round=round_, deal=deal, guards=("declarations_corrected",), reason="why"),
                new_result,
            ]
    left = [round_ for round_ in range(1, 5) if round_ not in recorded]
    booked = random.choice([room.planned, event()]).bookings.get((table, left[0])) if left else None
    if booked is None:
        return []
    facts = steps_to(replace(result(table, booked.round, random.choice(OUTCOMES)), players=dict(booked.players)))
    return [one for one in facts if random.random() > 0.04]


def drawn_ruling(random: Random, room: EventState) -> DrawnRuling:
    """Return a random ruling, which may be impossible."""
    key = random.choice(sorted(room.planned.bookings))
    play, everybody = room.play(key), sorted(room.event.players)
    here, one = sorted(play.players.values()), random.choice(everybody)
    others = dict(zip(SEATS, random.sample([*here, one] if one not in here else here, 4), strict=True))
    substitute = Player(id=f"q{len(room.book.entries):02}", name="Ada Reserve")
    seated = {seat: substitute.id if who == here[0] else who for seat, who in play.players.items()}
    apart = [(one.ids, (one.table, one.round)) for one in room.apart_plays()] or [((), key)]
    ids, where = random.choice(apart)
    replaces = room.results[where].id if where in room.results else None
    choice: list[DrawnRuling] = [
        (correct(random.choice(OUTCOMES), play.source), key),
        (Void(), key),
        (Adjusted(gives=dict.fromkeys(here, "others")), key),
        (Award(gives={here[1]: 3}), key),
        (FineRuled(takes={here[2]: 4}, infraction="sound"), key),
        (SeatsPlayed(players=others), key),
        (Withdrawn(player=one, first_round=random.randint(1, 4)), None),
        (Substitute(player=one, name="Bo", first_round=random.randint(1, 4)), None),
        (FineRuled(takes={one: 4}, infraction="sound"), None),
        (PlanChanged(dropped=(key[::-1],)), None),
        (PlanChanged(entered=(substitute,), plays=(SeatedAnew(key[1], key[0], **seated),)), None),
        (TakenOver(facts=ids, replaces=replaces) if ids else Void(), where),
        (Discarded(facts=ids) if ids else Void(), where),
        *((Undo(ruling=id_), None) for id_ in [*room.book.entries][-3:]),
    ]
    return random.choice(choice)


def rule(hall: Hall, drawn: DrawnRuling) -> str | None:
    """Preview and give a ruling. Return its id, or None if it is refused."""
    room, (decision, key) = hall.scorer.state, drawn
    before, one = desk_contents(room), draft(room, decision, key)
    try:
        effects: RulingEffects | None = hall.scorer.rulings.effects(one, HEAD)
    except Refused:
        effects = None
    assert desk_contents(room) == before
    if effects is None:
        return None
    preview, ranked = room.fork(), {line.name: (line.place, line.imp) for line in room.snapshot().ranking}
    hall.scorer.rulings.give(one, HEAD, effects.fingerprint)
    given = [*hall.journal.messages()][-1]
    assert isinstance(given, Ruling)
    preview.apply(given)
    assert desk_contents(preview) == desk_contents(room)
    now = {line.name: (line.place, line.imp) for line in room.snapshot().ranking}
    assert {line.name for line in effects.players} == {who for who in ranked | now if ranked.get(who) != now.get(who)}
    return one.id


@settings(max_examples=max(4, COSTLY.max_examples))
@given(st.randoms(use_true_random=False))
def test_previews_match_results_restarts_change_nothing_and_undos_restore(random: Random) -> None:
    with unplayed_hall() as begun:
        hall, numbers = begun, dict.fromkeys(event().tables, 0)
        for _ in range(20):
            table, room = random.choice(event().tables), hall.scorer.state
            if random.random() < 0.4:
                facts = next_facts(random, room, table)
                numbers[table] += len(facts)
                first = numbers[table] - len(facts) + 1
                hall.hear(*(fact(table, seq, one) for seq, one in enumerate(facts, first)))
                continue
            before, waiting = counts(room), room.quarantine.ids()
            given = rule(hall, drawn_ruling(random, room))
            if given and not waiting:  # plays that have counted once keep counting
                after = counts(room)
                if undone := rule(hall, (Undo(ruling=given), None)):
                    assert counts(room) == before
                    if rule(hall, (Undo(ruling=undone), None)):
                        assert counts(room) == after
            hall = make_hall(hall.folder, hall.journal)
            assert desk_contents(hall.scorer.state) == desk_contents(room)
