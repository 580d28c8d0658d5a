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

    def of(self, room: Room, deals: Iterable[int], seq: int) -> Iterator[Outgoing]:
        """Give what is to be said after plays of these deals have changed."""
        open_deals = [deal for deal in sorted(deals) if room.complete(deal)]
        for deal in open_deals:
            yield self._speaker.traveller(room, deal, seq, PublicTraveller)
        if open_deals:
            yield self._speaker.public_standings(self._embargo.open_part(room.moment()), seq)
