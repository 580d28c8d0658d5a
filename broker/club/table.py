"""Four players at a table, playing one deal to its end."""

from collections.abc import Mapping

from msgspec import Struct

from broker.club.chance import Chance
from broker.club.player import choose
from broker.club.view import seen
from broker.contract.words import Seat
from broker.rules.deal import Deal
from broker.rules.points import Outcome
from broker.rules.profile import Payments
from broker.rules.referee.actions import Action
from broker.rules.referee.claims import settle_claims
from broker.rules.referee.judge import Judge
from broker.rules.referee.legal import legal_actions
from broker.rules.referee.moves import apply
from broker.rules.referee.play import Play, begin
from broker.rules.referee.turns import asked


class Seated(Struct, frozen=True):
    """A player at a seat."""

    strength: float
    chance: Chance


class Played(Struct, frozen=True):
    """A play that is over, with everything that was done in it."""

    end: Play
    actions: tuple[Action, ...]

    @property
    def outcome(self) -> Outcome:
        """How it ended, as it is scored."""
        winners = {win.hu.seat: win.hand_value for win in self.end.wins}
        if not winners:
            return Outcome("draw", {})
        last = self.actions[-1]
        return Outcome("self_drawn", winners) if last.do == "self_hu" else Outcome("discard", winners, self.end.turns.turn)


def play_deal(deal: Deal, players: Mapping[Seat, Seated], payments: Payments, judge: Judge) -> Played:
    """Play a deal. Everybody is shown the own view alone; the referee allows nothing that is not legal."""
    play, actions = begin(deal, payments), list[Action]()
    while seats := asked(play.turns):
        chosen = [(seat, _choice(play, seat, players[seat], judge)) for seat in seats]
        if play.turns.phase in ("draw", "hold"):
            action = chosen[0][1]
            assert action is not None  # noqa: S101 - whose turn it is can always draw or discard
        else:
            action = settle_claims(play.turns, [choice for _, choice in chosen if choice is not None])
        play = apply(play, action, judge)
        actions.append(action)
    return Played(play, tuple(actions))


def _choice(play: Play, seat: Seat, player: Seated, judge: Judge) -> Action | None:
    legal = legal_actions(play, seat, judge)
    return choose(seen(play, seat), legal, player.strength, player.chance) if legal else None
