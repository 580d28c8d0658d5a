"""What is legal and how the play goes on, given the counted walls, whose turn it was and who claimed.

`turns` decides what is legal. This module answers, in sentences that cite the rule, the questions of an arbiter who
comes to a table. Whether the walls fit can be told without knowing who drew when. Every turn begins with a draw or a
claim and ends with a discard, after which the next player draws unless somebody claims it. So the next player has drawn
as often as the one before, plus one for each set which that player has claimed, minus one for each set claimed from
them. Each kong's replacement tile is counted on top.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from broker.errors import RuleError
from broker.i18n import N_, SEAT_NAMES, Message, Translator
from broker.protocol import SEATS, Seat
from broker.rules.deal import NEXT_SEAT, SEAT_INDEX, turns_between
from broker.rules.mcr.fan import Fan, fan_entries
from broker.rules.mcr.turns import (
    WALL,
    Action,
    ActionKind,
    Phase,
    SituationFan,
    TurnState,
    apply_turn,
    begin_turns,
    settle_claims,
)

CLAIMS: Final[Mapping[ActionKind, Message]] = {
    "chow": N_("chow"),
    "pung": N_("pung"),
    "melded_kong": N_("kong"),
    "hu_on_discard": N_("hu"),
}
"""The possible claims, as labels for arbiters."""

PHASE_LABELS: Final[Mapping[Phase, Message]] = {
    "claim": N_("has discarded, and nobody has drawn since"),
    "draw": N_("is to draw"),
    "hold": N_("holds the extra tile"),
    "kong": N_("has declared a kong, and not drawn its replacement"),
}
"""The state of the player whose turn it was, as labels for arbiters; the most usual first."""

QUESTIONS: Final[Mapping[str, Message]] = {
    "walls": N_("Tiles left in each wall, counted"),
    "turn": N_("Whose turn it was, according to the table"),
    "phase": N_("This player:"),
    "claims": N_("Who claims the discard, and what for"),
    "sets": N_("Sets claimed so far: how many, and from whom"),
}
"""The questions to the arbiter, at the desk and at the table, in this order."""

ABOUT_SETS: Final = N_(
    "A kong counts twice: as a set, if its tile was claimed, and under kongs. The turned tile says from whom."
)
MOST_SETS: Final = 4
"""The most sets that a player can have."""

Tone = Literal["plain", "yes", "no"]


class Scene(Struct, frozen=True, kw_only=True):
    """What an arbiter has been told and has counted."""

    walls: Mapping[Seat, int]
    """Tiles left."""
    turn: Seat
    phase: Phase
    claims: Mapping[Seat, ActionKind] = {}
    """The seats that claim the open tile, and what for."""
    dealer: Seat
    claimed_sets: Mapping[tuple[Seat, Seat], int] | None = None
    """How many sets each seat has claimed so far from each other seat, including kongs; None if nobody has looked."""
    kongs: Mapping[Seat, int] = {}
    """How many kongs of all kinds each seat has declared."""


class Answer(NamedTuple):
    """One sentence of the answer, its code, and the rule that it follows from."""

    code: str
    text: Message
    rule: str = ""
    tone: Tone = "plain"

    def in_words(self, _: Translator) -> str:
        """Return the sentence in a language, with the names of the seats in that language."""
        return _(self.text, **{name: _word(_, value) for name, value in self.text.values.items()})


def _rule(number: str) -> Message:
    return N_("OEDMC rule {number}", number=number)


def _word(_: Translator, value: object) -> object:
    if isinstance(value, Message):
        return _(value)
    if isinstance(value, Fan):
        return getattr(value, _.language, value.en)
    if isinstance(value, tuple):
        return _(", ").join(str(_word(_, one)) for one in value)
    return _(SEAT_NAMES[value]) if isinstance(value, str) and value in SEAT_NAMES else value


def what_happened(scene: Scene, *, nearest_only: bool = False) -> tuple[Answer, ...]:
    """Return what the rules say about a scene. `nearest_only`: only the nearest in turn order wins on a discard.

    Raises RuleError `bad_walls` unless there are four walls of 0 to 21 tiles.
    """
    state = begin_turns(
        scene.walls, scene.turn, "claim" if scene.phase == "kong" else scene.phase, nearest_only=nearest_only
    )
    if scene.phase == "kong":
        state = replace(state, phase="kong", extra="replacement")
    counted = () if scene.phase == "draw" and not scene.walls[scene.turn] else _check_walls(scene)
    return (_last_tile(state), *_PHASES[scene.phase](state, scene), *counted)


def _last_tile(state: TurnState) -> Answer:
    """Say whether the last tile of the wall is reached."""
    following = NEXT_SEAT[state.turn]
    if not state.ltw:
        text = N_("The last tile of the wall is not reached: {other} has tiles left.", other=following)
        return Answer("ltw_not_reached", text, "OEDMC")
    text = N_(
        "The last tile of the wall is reached: it is {seat}’s turn and the wall of {other} is empty. Only hu may be "
        "declared now.",
        seat=state.turn,
        other=following,
    )
    return Answer("ltw_reached", text, _rule("4"), "no")


# ---- how the play goes on -----------------------------------------------------------------------


def _at_draw(state: TurnState, _: Scene) -> Iterator[Answer]:
    if not state.walls[SEAT_INDEX[state.turn]]:
        text = N_(
            "{seat} has no tile left to draw, so the play was over before: count the walls again.", seat=state.turn
        )
        yield Answer("wall_empty", text, "OEDMC", "no")
        return
    yield Answer("draws_next", N_("{seat} draws next, from their own wall.", seat=state.turn), "MIL", "yes")
    yield _last_draw(state)


def _at_hold(state: TurnState, _: Scene) -> Iterator[Answer]:
    seat = state.turn
    yield Answer("discards_next", N_("{seat} discards next. Nobody draws before.", seat=seat), "MIL", "yes")
    if state.ltw:
        yield Answer("kong_refused", N_("{seat} may not declare a kong.", seat=seat), _rule("4"), "no")
        yield Answer(
            "last_tile_draw", N_("Hu on the tile drawn now adds {fan}.", fan=_fan("Last Tile Draw")), _rule("5")
        )
    elif not state.walls[SEAT_INDEX[seat]]:
        text = N_("{seat} may not declare a kong: their own wall is empty, so there is no replacement.", seat=seat)
        yield Answer("kong_refused", text, _rule("3B"), "no")
    else:
        text = N_(
            "{seat} may declare a kong, unless the extra tile was claimed: the replacement is the next tile of their "
            "own wall.",
            seat=seat,
        )
        yield Answer("kong_allowed", text, _rule("3A"), "yes")
    yield _last_draw(state)


def _at_claim(state: TurnState, scene: Scene) -> Iterator[Answer]:
    allowed = []
    for seat, do in sorted(scene.claims.items(), key=lambda one: turns_between(scene.turn, one[0])):
        claim = Action(do, seat)
        if refused := _refusal(state, claim):
            yield refused
        else:
            text = N_("{seat}, {claim}: allowed.", seat=seat, claim=CLAIMS[do])
            yield Answer(f"{do}_allowed", text, "MCR", "yes")
            allowed.append(claim)
    sets = [claim.actors[0] for claim in allowed if claim.do in ("pung", "melded_kong")]
    if len(sets) > 1:
        text = N_("They cannot both hold the tiles for it: ask {seats} to show them.", seats=tuple(sets))
        yield Answer("two_pungs", text, "MCR", "no")
    yield from _settled(state, settle_claims(state, allowed), tuple(claim.actors[0] for claim in allowed))


REFUSALS: Final[Mapping[str, tuple[Message, str]]] = {
    "only_hu_in_ltw": (
        N_("{seat}, {claim}: not allowed. On the last tile of the wall a discard can be claimed for hu only."),
        _rule("4"),
    ),
    "kong_without_wall": (
        N_("{seat}, {claim}: not allowed. Their own wall is empty, so there is no replacement."),
        _rule("3B"),
    ),
    "chow_not_next": (N_("{seat}, {claim}: not allowed. Only the next in turn order, {other}, may chow."), "MCR"),
    "own_discard": (N_("{seat}, {claim}: not allowed. Players cannot claim their own discard."), "MCR"),
    "discarder_wins": (N_("{seat}, {claim}: not allowed. Players cannot claim their own discard."), "MCR"),
    "wrong_phase": (N_("{seat}, {claim}: not allowed. The tile of a kong can be claimed for hu only."), "MCR"),
}
"""The sentence and rule for each refusal code of a claim."""


def _refusal(state: TurnState, claim: Action) -> Answer | None:
    try:
        apply_turn(state, claim)
    except RuleError as refused:
        text, rule = REFUSALS[refused.code]
        values = {"seat": claim.actors[0], "claim": CLAIMS[claim.do], "other": NEXT_SEAT[state.turn]}
        return Answer(refused.code, Message(text.template, **values), rule, "no")
    return None


def _settled(state: TurnState, settled: Action, claimants: tuple[Seat, ...]) -> Iterator[Answer]:
    """Say who gets the tile, and who plays next."""
    after = apply_turn(state, settled)
    if settled.do == "no_claim":
        yield from _nobody_claims(after)
        return
    if settled.do == "hu_on_discard":
        yield from _won(state, settled.seats, claimants)
        for fan in after.situation_fans:
            yield Answer("adds_fan", N_("It adds {fan} to each winning hand.", fan=_fan(fan)), _rule("5"))
        return
    seat, claim = after.turn, CLAIMS[settled.do]
    if len(claimants) > 1:
        text = N_("The tile is {seat}’s, for {claim}: hu comes before pung and kong, these before chow.")
        yield Answer("tile_goes_to", Message(text.template, seat=seat, claim=claim), "MCR", "yes")
    else:
        yield Answer("tile_goes_to", N_("The tile is {seat}’s, for {claim}.", seat=seat, claim=claim), "MCR", "yes")
    if settled.do == "melded_kong":
        text = N_("{seat} draws the replacement, the next tile of their own wall, then discards.", seat=seat)
        yield Answer("draws_replacement", text, _rule("3A"), "yes")
    else:
        yield Answer("discards_next", N_("{seat} draws nothing, and discards next.", seat=seat), "MCR", "yes")
    if after.ltw:
        yield _last_tile(after)
    yield _last_draw(after)


def _nobody_claims(after: TurnState) -> Iterator[Answer]:
    if after.over:
        text = N_("Nobody wins on this discard: the play is over, a draw.")
        yield Answer("exhausted_draw", text, "MIL", "yes")
        return
    # After a kong it is still the same player's turn, and the tile drawn is the replacement.
    if after.extra == "replacement":
        text = N_("{seat} draws the replacement, the next tile of their own wall, then discards.", seat=after.turn)
        yield Answer("draws_replacement", text, _rule("3A"), "yes")
    else:
        yield Answer("draws_next", N_("{seat} draws next, from their own wall.", seat=after.turn), "MIL", "yes")
        if after.ltw:
            yield _last_tile(after)
    yield _last_draw(after)


def _won(state: TurnState, winners: tuple[Seat, ...], claimants: tuple[Seat, ...]) -> Iterator[Answer]:
    yield Answer("tile_wins", N_("The tile is {seats}’s, for hu: the play is over.", seats=winners), "MCR", "yes")
    if state.nearest_only and len(claimants) > 1:
        text = N_("Of several who declare hu, only the nearest in turn order wins by the rules of this event.")
        yield Answer("nearest_wins", text)
    elif len(winners) > 1:
        yield Answer("all_win", N_("All who declare hu on one tile win, whatever their seat."), _rule("2"))
    if state.phase == "kong":
        text = N_("Only a tile added to a pung can be claimed; concealed and melded kongs cannot be robbed.")
        yield Answer("added_kong_only", text, "MCR")


def _fan(name: SituationFan) -> Fan:
    return next(fan for fan in fan_entries().values() if fan.en == name)


def _last_draw(state: TurnState) -> Answer:
    """Say who draws the last tile of the play if from now on everybody just draws and discards."""
    last, count = None, 0
    while state.over is None:
        if state.phase == "draw":
            if not state.walls[SEAT_INDEX[state.turn]]:
                break
            last, count = state.turn, count + 1
        state = apply_turn(state, _WITHOUT_CLAIMS[state.phase](state.turn))
    if last is None:
        return Answer("nobody_draws", N_("Nobody draws another tile in this play."), "OEDMC")
    text = N_(
        "If nobody claims again, {seat} draws the last tile of the play; tiles still to be drawn: {count}.",
        seat=last,
        count=count,
    )
    return Answer("draws_last", text, "OEDMC")


_WITHOUT_CLAIMS: Final[Mapping[Phase, Callable[[Seat], Action]]] = {
    "draw": lambda seat: Action("draw", seat),
    "hold": lambda seat: Action("discard", seat),
    "claim": lambda _: Action("no_claim"),
    "kong": lambda _: Action("no_claim"),
}
_PHASES: Final[Mapping[Phase, Callable[[TurnState, Scene], Iterator[Answer]]]] = {
    "draw": _at_draw,
    "hold": _at_hold,
    "claim": _at_claim,
    "kong": _at_claim,
}


# ---- whether the walls fit ------------------------------------------------------------------


def _check_walls(scene: Scene) -> Iterator[Answer]:
    """Say whether the walls fit the turns, and if not, who has drawn out of turn."""
    surplus = _surplus_draws(scene)
    if not any(surplus.values()):
        yield Answer("walls_fit", N_("The four walls fit: everybody has drawn in turn."), "MIL", "yes")
        return
    fitting = [seat for seat in SEATS if not any(_surplus_draws(replace(scene, turn=seat)).values())]
    if scene.claimed_sets is None:
        text = N_("The four walls fit only if sets were claimed before: enter them, and the draws can be checked.")
        yield Answer("sets_missing", text, "MIL", "no")
    elif Counter(surplus.values())[0] < len(SEATS) // 2:
        text = N_("The walls fit neither the turns nor the sets: count tiles and sets again.")
        yield Answer("walls_unclear", text, "MIL", "no")
    else:
        yield from _out_of_turn(surplus)
    if fitting and scene.claimed_sets is not None:
        text = N_("The walls fit if it was the turn of {seat}.", seat=fitting[0])
        yield Answer("another_turn", text, "MIL")


def _out_of_turn(surplus: Mapping[Seat, int]) -> Iterator[Answer]:
    for seat, count in surplus.items():
        if count > 0:
            text = N_("{seat} has drawn out of turn; tiles drawn too many: {count}.", seat=seat, count=count)
            yield Answer("drew_out_of_turn", text, "MIL", "no")
        elif count < 0:
            text = N_("{seat} was passed over; tiles drawn too few: {count}.", seat=seat, count=-count)
            yield Answer("passed_over", text, "MIL", "no")


def _surplus_draws(scene: Scene) -> dict[Seat, int]:
    """Return each seat's surplus of drawn tiles (negative: too few), taking the most common surplus as correct."""
    drawn_over = {seat: WALL - scene.walls[seat] - due for seat, due in _draws_due(scene).items()}
    at = _most_common(drawn_over.values())
    return {seat: drawn_over[seat] - at for seat in SEATS}


def _most_common(numbers: Iterable[int]) -> int:
    """Return the most frequent number; among several, the one that is nearest to the others."""
    counted = Counter(numbers)
    most = max(counted.values())
    return min(
        (number for number, times in counted.items() if times == most),
        key=lambda one: (sum(abs(other - one) * times for other, times in counted.items()), one),
    )


def _draws_due(scene: Scene) -> dict[Seat, int]:
    """Return how many more tiles than the dealer each seat should have drawn."""
    claimed_sets, due = scene.claimed_sets or {}, dict.fromkeys(SEATS, 0)
    # The open discard has not been followed by a draw yet, and neither has the one before an awaited draw. A turn in
    # progress has not come to its discard.
    open_at = next(seat for seat in SEATS if NEXT_SEAT[seat] == scene.turn) if scene.phase == "draw" else scene.turn
    seat = scene.dealer
    while NEXT_SEAT[seat] != scene.dealer:
        claimed = sum(claimed_sets.get((seat, other), 0) for other in SEATS)
        lost = sum(claimed_sets.get((other, seat), 0) for other in SEATS)
        due[NEXT_SEAT[seat]] = due[seat] + claimed - lost - (seat == open_at)
        seat = NEXT_SEAT[seat]
    waits = scene.turn if scene.phase == "kong" else None
    return {seat: due[seat] + scene.kongs.get(seat, 0) - (seat == waits) for seat in SEATS}
