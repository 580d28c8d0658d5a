"""Whether the wins of a record are counted and paid here as they were in play."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from broker.riichi.mjlog.game import as_played
from broker.riichi.mjlog.tags import Tag
from broker.riichi.mjlog.wins import PLAYERS, Win, wins_of
from broker.rules.errors import RuleError
from broker.rules.riichi.points import Payments, payments
from broker.rules.riichi.profile import RiichiProfile
from broker.rules.riichi.value import Value, value


@dataclass(frozen=True, slots=True)
class Checked:
    """One win or one hand of a record: its number, from 1, and each way in which it differs; none where it agrees."""

    number: int
    differences: tuple[str, ...]


def checked_wins(tags: Sequence[Tag], profile: RiichiProfile) -> Iterator[Checked]:
    """Check each win of a record. Raises RuleError `bad_record`."""
    for number, (game, win) in enumerate(wins_of(tags), 1):
        if isinstance(win, RuleError):
            yield Checked(number, (f"{win.code}: {win.text}",))
            continue
        yield Checked(number, tuple(_differences(win, as_played(profile, game.kind))))


def _differences(win: Win, profile: RiichiProfile) -> Iterator[str]:
    try:
        found = value(win.hand, win.said, profile)
    except RuleError as problem:
        yield f"{problem.code}: {problem.text}"
        return
    yaku = {one.id: one.han for one in found.yaku}
    if yaku != win.yaku:
        yield f"yaku {_listed(yaku)}, in the record {_listed(win.yaku)}"
    fu = found.fu.rounded if found.fu else None
    if fu is not None and not found.yakuman and fu != win.fu:
        yield f"{fu} fu, in the record {win.fu}"
    yield from _payment_differences(win, found, profile)


def _payment_differences(win: Win, found: Value, profile: RiichiProfile) -> Iterator[str]:
    bare = payments(found.win(win.said), profile.points)
    if bare.winner_gain != win.points:
        yield f"{bare.winner_gain} points, in the record {win.points}"
    whole = payments(found.win(win.said, win.honba, win.deposits), profile.points)
    ours = deltas(whole, win)
    if win.paid is not None and ours != win.paid:
        yield f"payments {ours}, in the record {win.paid}"


def deltas(paid: Payments, win: Win) -> tuple[int, ...]:
    """Give what each player wins or loses, players by their number."""
    return tuple(_delta(paid, win, player) for player in range(PLAYERS))


def _delta(paid: Payments, win: Win, player: int) -> int:
    if player == win.winner:
        return paid.winner_gain
    if win.discarder is not None:
        return -(paid.discarder_pays or 0) if player == win.discarder else 0
    if paid.each_other_pays is not None:
        return -paid.each_other_pays
    return -((paid.dealer_pays if player == win.dealer else paid.each_non_dealer_pays) or 0)


def _listed(yaku: Mapping[str, int]) -> str:
    return ", ".join(f"{one} {han}" for one, han in yaku.items())
