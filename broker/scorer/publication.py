"""The public copies of travellers and standings: what everybody may hear once the embargo of a deal is over."""

from collections.abc import Iterable, Iterator

from broker.contract.messages import PublicTraveller
from broker.scorer.moment import Embargo
from broker.scorer.outgoing import Outgoing, Speaker
from broker.scorer.room import Room


class Publication:
    """Says on the public topics what may be said there. Of a deal that a table has yet to play, nothing ever was."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker, self._embargo = speaker, Embargo()
        self._told: set[int] = set()
        """Deals that are public now."""
        self._unsaid = self._final = False
        """Whether something is to be said of the standings, and whether they were said to be final."""

    def note(self, room: Room, deals: Iterable[int]) -> None:
        """Take note that these deals, as far as they are over, are public already, or will be told at once."""
        self._told |= {deal for deal in deals if room.complete(deal)}

    def of(self, room: Room, deals: Iterable[int], seq: int, now: int) -> Iterator[Outgoing]:
        """Give what is to be said after plays of these deals have changed. `now` in ms since 1970.

        A deal that goes back under the embargo (a play was reopened, or was of another deal) is taken back: the broker
        keeps what was said last, and shall keep nothing of it. Standings with it are taken back at once; others wait
        until `standings` is asked, for in a great hall a deal ends many times a second.
        """
        over = {deal for deal in deals if room.complete(deal)}
        back = {deal for deal in deals if deal in self._told and deal not in over}
        self._told = (self._told | over) - back
        for deal in sorted(over | back):
            yield self._speaker.traveller(room, deal, seq, PublicTraveller)
        self._unsaid |= bool(over or back)
        if back:
            yield from self.standings(room, seq, now)

    def renamed(self) -> None:
        """Have the standings said again, though nobody's IMPs have changed."""
        self._unsaid = True

    def standings(self, room: Room, seq: int, now: int) -> Iterator[Outgoing]:
        """Give the public standings, if they have changed since they were given, or are final by now, or no longer."""
        final = room.is_final(now)
        if self._unsaid or final != self._final:
            self._unsaid, self._final = False, final
            yield self._speaker.public_standings(self._embargo.open_part(room.moment()), seq, final=final)
