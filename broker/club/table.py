"""Four players at a table, playing one deal to its end."""

from collections.abc import Mapping

from msgspec import Struct

from broker.club.chance import Chance
from broker.club.player import choose
from broker.club.view import seen
from broker.contract.words import Seat
from broker.rules.deal import Deal
from broker.rules.errors import RuleError
from broker.rules.points import Outcome
from broker.rules.profile import Payments
from broker.rules.referee.actions import Action
from broker.rules.referee.claims import settle_claims
from broker.rules.referee.judge import Hu, Judge
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
    tempted: tuple[Seat, ...]
    """Who held, at some moment, a complete hand under the minimum: the false hu that nerves make."""

    @property
    def outcome(self) -> Outcome:
        """How it ended, as it is scored."""
        winners = {win.hu.seat: win.hand_value for win in self.end.wins}
        if not winners:
            return Outcome("draw", {})
        last = self.actions[-1]
        return (
            Outcome("self_drawn", winners) if last.do == "self_hu" else Outcome("discard", winners, self.end.turns.turn)
        )


def play_deal(deal: Deal, players: Mapping[Seat, Seated], payments: Payments, judge: Judge) -> Played:
    """Play a deal. Everybody is shown the own view alone; the referee allows nothing that is not legal."""
    noting = _Noting(judge)
    play, actions = begin(deal, payments), list[Action]()
    while seats := asked(play.turns):
        chosen = [action for seat in seats if (action := _choice(play, seat, players[seat], noting))]
        action = chosen[0] if play.turns.phase in ("draw", "hold") else settle_claims(play.turns, chosen)
        play = apply(play, action, judge)
        actions.append(action)
    return Played(play, tuple(actions), tuple(noting.under))


def _choice(play: Play, seat: Seat, player: Seated, judge: Judge) -> Action | None:
    legal = legal_actions(play, seat, judge)
    return choose(seen(play, seat), legal, player.strength, player.chance) if legal else None


class _Noting:
    """A judge who remembers whose hands were complete and worth too little."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.under: dict[Seat, None] = {}

    def __call__(self, hu: Hu, /) -> int:
        try:
            return self._judge(hu)
        except RuleError as refusal:
            if refusal.code == "below_minimum":
                self.under[hu.seat] = None
            raise
