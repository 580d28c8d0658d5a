"""Proposed changes of who plays: what is not yet played is reseated, and the cost of that is counted."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from broker.event import BookedPlay, Event, stage_at
from broker.event.movement import KeepSearching, NamedPlay, RandomSource, meetings
from broker.event.movement.files import merge_rounds
from broker.event.movement.repair import Remainder, replan
from broker.i18n import N_, search_key
from broker.protocol import MOST_CHANGED, SEATS, PlanChanged, Player, PlayerId, Seat, SeatedAnew
from broker.rules import RuleError
from broker.rulings.model import WHO_PLAYS, PlayKey
from broker.rulings.plan import ever_entered, plan_changes
from broker.rulings.validate import kept_plays
from broker.scorer import EventState

SEARCH_S: Final = 3.0
"""How long a page waits for a new seating."""

SearchFor = Callable[[float], KeepSearching]
"""Takes the seconds that a search may last, and returns the function that ends it."""


class PlanFacts(NamedTuple):
    """The state of an event when a change is proposed, taken at one time, so that another thread may search."""

    original: Event
    """As its organiser settled it."""
    planned: Event
    kept: tuple[BookedPlay, ...]
    """The plays that stay, as they were played."""
    kept_keys: frozenset[PlayKey]
    restored_carriers: frozenset[tuple[int, int]]
    """Round and table of carriers that are restored for a play that has not begun."""
    known_deals: frozenset[int]
    """Deals that everybody may know."""
    gone: frozenset[PlayerId]
    """Players who have left or not come. A player who only sits out the rest of the event is not among them."""
    last: str | None
    """The id of the last ruling on who plays."""
    entered: frozenset[PlayerId]
    """The ids that changes have ever given. A table may still play by a change that was undone."""

    @property
    def playing(self) -> frozenset[PlayerId]:
        """Players who are present."""
        return frozenset(self.planned.players.keys() - self.gone)

    @property
    def first_round(self) -> int:
        """The first round in which a table has not begun."""
        return min(
            (round_ for table, round_ in self.planned.bookings if (table, round_) not in self.kept_keys), default=0
        )


class PlanWishes(NamedTuple):
    """The requested change. `replaced`: the name of the person taking over, by id of the player replaced."""

    leave: tuple[PlayerId, ...] = ()
    enter: tuple[str, ...] = ()
    back: tuple[PlayerId, ...] = ()
    replaced: Mapping[PlayerId, str] = {}
    first_round: int = 1
    without_standing: bool = False
    """Whether the players who enter take no place."""


class Moved(NamedTuple):
    """A player whose seat in a round differs. None: sits out."""

    player: Player
    round: int
    before: tuple[int, Seat] | None
    after: tuple[int, Seat] | None


class PlanCost(NamedTuple):
    """What a change costs, for those who decide."""

    moved: tuple[Moved, ...]
    again: tuple[tuple[Player, Player, int, int], ...]
    """Pairs who meet more often than planned, and more than once: how often before, and now."""
    empty: Mapping[int, tuple[int, ...]]
    """The empty tables, by round."""
    sits_out: Mapping[int, tuple[Player, ...]]
    """The players who sit out, by round."""
    plays: tuple[int, int]
    """The fewest and the most plays of anybody who stays to the end."""


def plan_facts(state: EventState) -> PlanFacts:
    """Return the state of an event. On the scorer's thread."""
    kept = kept_plays(state)
    played = (state.play(key) for key in kept)
    restored = ((one.round, table) for table, one in state.tables.times.restored.items())
    coming = {who for key, play in state.planned.bookings.items() if key not in kept for who in play.players.values()}
    return PlanFacts(
        state.original,
        state.event,
        tuple(BookedPlay(one.round, one.table, one.deal, dict(one.players)) for one in played),
        frozenset(kept),
        frozenset(place for place in restored if place[::-1] not in kept),
        frozenset(deal for deal in state.planned.expected if state.plays_of(deal) and state.complete(deal)),
        frozenset(
            state.planned.players.keys() & {who for _, one in plan_changes(state.book) for who in one.left} - coming
        ),
        state.last_message_id(WHO_PLAYS),
        frozenset(ever_entered(state.book)),
    )


def draft_change(facts: PlanFacts, wishes: PlanWishes, rng: RandomSource, search_for: SearchFor) -> PlanChanged:
    """Return the change that reseats everybody who is present from a round on.

    A section with no change of players stays as it is. Raises RuleError `nothing_changes`, `nothing_left`,
    `too_few_players`, `nobody_of_event`, `plan_too_large`.
    """
    planned = facts.planned
    known = {*planned.players, *facts.original.players}
    if strange := sorted({*wishes.leave, *wishes.back, *wishes.replaced} - known):
        raise RuleError("nobody_of_event", N_("{who} is not in this event", who=", ".join(strange)))
    if not any(wishes[:4]):
        raise RuleError("nothing_changes", N_("Enter who arrives, who leaves, or who replaces whom."))
    if away := sorted({*wishes.leave, *wishes.replaced} - facts.playing):
        raise RuleError("nothing_changes", N_("{who} has left already", who=", ".join(away)))
    if here := sorted(facts.playing.intersection(wishes.back)):
        raise RuleError("nothing_changes", N_("{who} has not left", who=", ".join(here)))
    names = [*wishes.enter, *wishes.replaced.values()]
    new = [
        Player(id=id_, name=name, without_standing=wishes.without_standing)
        for id_, name in zip(_new_ids(known | facts.entered, len(names)), names, strict=True)
    ]
    replaced_by = dict(zip(wishes.replaced, (one.id for one in new[len(wishes.enter) :]), strict=True))
    first = max(wishes.first_round, facts.first_round)
    back = [one for one in wishes.back if one in facts.gone or one not in planned.players]
    returning = [facts.original.players[one] for one in back if one not in planned.players]
    left = {*wishes.leave, *wishes.replaced}
    parts = _parts(facts, first)
    open_ = {key for part in parts for key in part.places - facts.kept_keys if key[1] >= first}
    if not open_:
        raise RuleError("nothing_left", N_("Every play has begun: nobody can be seated any more."))
    staying, entering = (
        [one for one in planned.players if one not in left],
        [one.id for one in new[: len(wishes.enter)]],
    )
    present = _players_present(parts, staying, back, entering)
    changing = [
        (part, here)
        for part, here in zip(parts, present, strict=True)
        if part.playing != {*here} or part.playing & replaced_by.keys()
    ]
    open_ &= {key for part, _ in changing for key in part.places}
    plays = [
        play
        for part, here in changing
        for play in replan(_remainder(facts, part, here, replaced_by, first), rng, search_for(SEARCH_S / len(changing)))
    ]
    seated = {(play.table, play.round): play for play in plays}
    changed = [
        SeatedAnew(play.round, play.table, *(str(play.players[seat]) for seat in SEATS))
        for key, play in seated.items()
        if key in open_
        if key not in planned.bookings or dict(planned.bookings[key].players) != dict(play.players)
    ]
    dropped = tuple(
        (round_, table) for table, round_ in sorted(open_ & planned.bookings.keys()) if (table, round_) not in seated
    )
    if max(len(changed), len(dropped)) > MOST_CHANGED:
        raise RuleError("plan_too_large", N_("this reseats more than {most} plays", most=MOST_CHANGED))
    return PlanChanged(entered=(*new, *returning), left=tuple(sorted(left)), plays=tuple(changed), dropped=dropped)


class _Part(NamedTuple):
    """Places among which players may be reseated: the event, or a section of one of its stages."""

    stage: int
    by_rank: bool
    places: frozenset[PlayKey]
    playing: frozenset[PlayerId]
    """Players who have plays to come there, or who sit out the rest."""
    known: frozenset[PlayerId]
    """Players who have or had a play there."""


def _parts(facts: PlanFacts, first: int) -> list[_Part]:
    """Return the parts of an event with places still to fill, without later stages, whose players are not known yet."""
    planned, places = facts.planned, dict[tuple[int, str], set[PlayKey]]()
    stages = planned.plan.stages
    for key in facts.original.places:
        at = stage_at(stages, key[1]) or 0
        if not stages or not stages[at].cut or planned.is_seated(at):
            places.setdefault((at, (stages and stages[at].section_of(key[0])) or ""), set()).add(key)
    found = []
    for (at, _), of in places.items():
        if not any(key[1] >= first and key not in facts.kept_keys for key in of):
            continue
        plays = [(key, planned.bookings[key]) for key in of if key in planned.bookings]
        to_come = {who for key, play in plays if key not in facts.kept_keys for who in play.players.values()}
        settled = [facts.original.bookings[key] for key in of if key in facts.original.bookings]
        known = {who for play in (*settled, *(play for _, play in plays)) for who in play.players.values()}
        staying = known & facts.playing
        by_rank = bool(stages and stages[at].cut)
        found.append(_Part(at, by_rank, frozenset(of), frozenset(to_come | staying), frozenset(known)))
    return found


def _players_present(
    parts: Sequence[_Part], staying: Sequence[PlayerId], back: Sequence[PlayerId], entered: Sequence[PlayerId]
) -> list[list[PlayerId]]:
    """Return who is present in each part. New players join the smallest section, but no stage seated by rank."""
    present = [[one for one in staying if one in part.playing or (one in back and one in part.known)] for part in parts]
    for stage in {part.stage for part in parts if not part.by_rank}:
        sections = [here for part, here in zip(parts, present, strict=True) if part.stage == stage]
        for player in (*back, *entered):
            if not any(player in here for here in sections):
                min(sections, key=len).append(player)
    return present


def _remainder(
    facts: PlanFacts, part: _Part, present: Sequence[PlayerId], replaced_by: Mapping[PlayerId, PlayerId], first: int
) -> Remainder:
    """Return what is to be replanned in a part."""
    plays = [play for play in facts.planned.plan.plays if (play.table, play.round) in part.places]
    settled = [play for play in facts.kept if (play.table, play.round) in part.places]
    settled += [play for play in plays if (play.table, play.round) not in facts.kept_keys and play.round < first]
    here = [new for old, new in replaced_by.items() if old in part.playing]
    return Remainder(
        {(round_, table): facts.original.places[table, round_].deal for table, round_ in part.places},
        plays,
        settled,
        [*present, *(one for one in here if one not in present)],
        replaced_by,
        facts.restored_carriers,
        facts.known_deals,
        first,
    )


NUMBERED: Final = re.compile(r"([a-z]*)([0-9]+)")


def _new_ids(known: Collection[str], count: int) -> list[str]:
    """Return new ids in the style of the existing ones, with the next numbers."""
    found = [match for one in known if (match := NUMBERED.fullmatch(one))]
    word = Counter(match[1] for match in found).most_common(1)[0][0] if found else "p"
    width = max((len(match[2]) for match in found), default=2)
    start = 1 + max((int(match[2]) for match in found if match[1] == word), default=0)
    return [f"{word}{number:0{width}}" for number in range(start, start + count)]


def plan_cost(facts: PlanFacts, after: Event) -> PlanCost:
    """Count what a change to another plan costs."""
    before, settled, first_round = facts.planned, facts.original, facts.first_round
    players, old, new = {**before.players, **after.players}, _seats(before), _seats(after)
    everywhere = settled.bookings.keys() | before.bookings.keys() | after.bookings.keys()
    rounds = sorted(round_ for round_ in {round_ for _, round_ in everywhere} if round_ >= first_round)
    everybody = sorted(players, key=lambda one: (search_key(players[one].name), one))
    moved = (
        Moved(players[who], round_, old.get((round_, who)), new.get((round_, who)))
        for round_ in rounds
        for who in everybody
    )
    met_before, meets_now = (meetings(_by_stays(one.plan.plays)) for one in (before, after))
    repeated = [(players[str(a)], players[str(b)], met_before[a, b], often) for (a, b), often in meets_now.items()]
    coming = {
        who for key, play in after.bookings.items() if key not in facts.kept_keys for who in play.players.values()
    }
    here = [who for who in everybody if who in coming]
    tables_seated = {round_: {table for (when, _), (table, _) in new.items() if when == round_} for round_ in rounds}
    tables_used = {round_: {table for table, when in everywhere if when == round_} for round_ in rounds}
    counts = [after.plays_planned[who] for who in here]
    return PlanCost(
        tuple(one for one in moved if one.before != one.after),
        tuple(sorted((one for one in repeated if one[3] > max(1, one[2])), key=lambda one: (-one[3], one[0].name))),
        {round_: tuple(sorted(empty)) for round_ in rounds if (empty := tables_used[round_] - tables_seated[round_])},
        {
            round_: waiting
            for round_ in rounds
            if (waiting := tuple(players[who] for who in here if (round_, who) not in new))
        },
        (min(counts, default=0), max(counts, default=0)),
    )


def _seats(event: Event) -> dict[tuple[int, str], tuple[int, Seat]]:
    """Return everybody's table and seat, by round and player."""
    return {(play.round, who): (play.table, seat) for play in event.plan.plays for seat, who in play.players.items()}


def _by_stays(plays: Sequence[BookedPlay]) -> Sequence[NamedPlay]:
    return merge_rounds([NamedPlay(play.round, play.table, play.deal, {**play.players}) for play in plays])
