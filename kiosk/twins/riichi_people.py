"""People who play a riichi session by a script: they declare, enter hands, say who is tenpai, and accept."""

from broker.contract.riichi import RiichiEvent, RiichiWin
from broker.contract.words import SEATS
from kiosk.riichi_entry import FU_FROM
from kiosk.riichi_questions import aborts
from kiosk.table.riichi.session import Session
from kiosk.table.state import Phase, Table
from kiosk.twins.people import STEPS_BACK, People


class RiichiPeople(People):
    """Everybody at one table of a session."""

    def step(self, state: Table) -> None:
        """Do the next thing that a table's state asks for."""
        session = state.session
        if session is None:
            return
        hand = self._script.hands[min(session.hand, len(self._script.hands)) - 1]
        self._react()
        if state.phase in (Phase.CONFIRMING, Phase.ACCEPTING):
            self._press(state, (seat for seat in SEATS if seat not in state.agreed))
        elif state.phase is Phase.PLAYING:
            self._end(state, session, hand)
        elif state.phase is Phase.DECLARED and session.asking:
            self._tell_tenpai(state, session, hand)
        elif state.phase is Phase.DECLARED:
            self._value(state, hand)
        elif state.phase is Phase.RECORDED:
            self._keys(*(("enter",) if session.hand < len(self._script.hands) else ("q", "enter")))

    def _end(self, state: Table, session: Session, hand: RiichiEvent) -> None:
        """Lay deposits first, one after the other; then win, or say that nobody has."""
        for seat in hand.riichi:
            if seat not in session.riichi and session.score(seat) >= session.profile.points.deposit.value:
                self._keys("i", seat[0])
                return
        if hand.wins:
            self._press(state, hand.wins)
        elif hand.reason is not None:
            self._keys("b", str(aborts(state).index(hand.reason) + 1))
        else:
            self._keys("d")

    def _tell_tenpai(self, state: Table, session: Session, hand: RiichiEvent) -> None:
        silent = [seat for seat in hand.tenpai if seat not in session.tenpai]
        if silent:
            self._press(state, silent[:1])
        else:
            self._keys("enter")

    def _value(self, state: Table, hand: RiichiEvent) -> None:
        self._keys(*["back"] * STEPS_BACK)
        for one in state.declarations:
            self._keys(*_typed(hand.wins[one.seat]))
        self._keys(hand.loser[0] if hand.loser else "d")
        if state.session and hand.loser in state.session.riichi:
            self._keys("n")  # the riichi was declared with another tile


def _typed(win: RiichiWin) -> tuple[str, ...]:
    """Give the keys for a hand: one yakuman, which nobody fed, or han and under five han fu."""
    if win.yakuman:
        return "y", "enter", "enter"
    fu = (*str(win.fu), "enter") if win.han < FU_FROM else ()
    return (*str(win.han), "enter", *fu)
