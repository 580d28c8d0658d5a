"""What may be seen of a planned deal under riichi rules. Of presses nothing is in here."""

from dataclasses import dataclass
from typing import Literal

from broker.contract.riichi import RiichiEvent, RiichiWin
from broker.contract.words import Seat
from broker.rules.riichi.session.settings import AbortReason
from broker.rules.riichi.wall import wall_of
from kiosk.riichi_entry import WinForm
from kiosk.riichi_keys import RiichiForm
from kiosk.riichi_questions import aborts
from kiosk.table.state import Phase, Table


@dataclass(frozen=True, slots=True)
class AloneShown:
    """Everything that the screen shows of it beside what all tables' do."""

    wall: tuple[Seat, ...] = ()
    """Whose part of the common wall is drawn one after the other."""
    form: RiichiForm | None = None
    asking: bool = False
    tenpai: frozenset[Seat] = frozenset()
    told: RiichiEvent | None = None
    """How the hand ended, to be accepted or recorded."""
    aborts: tuple[AbortReason, ...] = ()
    spoils: Literal[False] = False
    """No fault is paid in points here."""

    @property
    def asked(self) -> Seat | None:
        """Whose hand is asked about."""
        return self.form.seat if isinstance(self.form, WinForm) else None

    @property
    def marked(self) -> frozenset[Seat]:
        """Who has said to be tenpai."""
        return self.tenpai

    def worth(self, seat: Seat) -> RiichiWin | None:
        """Give what a winner's hand is worth, as far as it is entered."""
        if self.told is not None:
            return self.told.wins.get(seat)
        return self.form.entered.get(seat) if isinstance(self.form, WinForm) else None


def alone_shown(state: Table, form: RiichiForm | None) -> AloneShown:
    """Give what is to be seen."""
    quiet = state.phase in (Phase.PLAYING, Phase.CLAIMING)
    told = None if quiet else state.hand.told
    return AloneShown(
        wall=wall_of(state.play.dealer) if state.play else (),
        form=form,
        asking=state.hand.asking and state.phase is Phase.DECLARED,
        tenpai=frozenset() if quiet or (told and told.kind != "draw") else state.hand.tenpai,
        told=told,
        aborts=aborts(state),
    )
