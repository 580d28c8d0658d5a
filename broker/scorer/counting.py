"""What a declared hand is worth, asked by its table: the scorer alone knows which face lies under which serial.

No table can look faces up by asking. A hand is counted only when its winner has declared and while the play has no
result, its tiles must be such as the winner can have drawn or claimed, and a play has so many counts and no more.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from broker.contract.counting import AnyAnswer, CountedFan, CountRequest, McrValue, NotCounted
from broker.contract.facts import Declared, Overridden
from broker.contract.messages import LogMessage
from broker.contract.wire import Refused
from broker.contract.words import SEATS, Seat
from broker.rules.deal import seat_wind
from broker.rules.errors import RuleError
from broker.rules.fan.count import Count, count
from broker.rules.fan.hand import Hand, Meld, Situation
from broker.rules.laid_hand import KONG, LaidHand, LaidMeld, sort_out
from broker.rules.riichi.profile import RiichiProfile
from broker.scorer.event import Event

MOST: Final = 24
"""Counts for one play: four hands that are laid anew five times each."""

CORRECTED: Final = "declarations_corrected"
"""Among the guards of an override: an arbiter has put right who declared."""


class Counting:
    """Answers one event's tables."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self._asked: Counter[tuple[int, int]] = Counter()
        """How many counts a play (table, round) has had; a scorer that starts again begins anew."""
        self._last: dict[int, tuple[CountRequest, AnyAnswer]] = {}
        """The last answer to each table: an answer that was lost is asked for again."""

    def answer(self, request: CountRequest, told: Iterable[LogMessage], *, over: bool) -> AnyAnswer:
        """Answer a table of the event, by what it has `told` so far; `over`: the play has its result.

        What is too early today may be right in a moment: it is neither kept nor counted.
        """
        last = self._last.get(request.table)
        if last is not None and last[0] == request:
            return last[1]
        try:
            self._refuse_before_the_end(request, told, over=over)
        except Refused as refused:
            return NotCounted(code=refused.code)
        self._asked[request.table, request.round] += 1
        answer = self._counted(request)
        self._last[request.table] = request, answer
        return answer

    def _refuse_before_the_end(self, request: CountRequest, told: Iterable[LogMessage], *, over: bool) -> None:
        """Let nobody ask about a hand that does not lie open yet, or so often that faces could be guessed."""
        if request.seat not in _declarers(request, told):
            raise Refused("not_declared", f"{request.seat} has not declared in round {request.round}")
        if isinstance(self._event.profile, RiichiProfile) or (request.table, request.round) in self._event.riichi:
            raise Refused("no_fan_here", f"table {request.table} plays round {request.round} under riichi rules")
        if over:
            raise Refused("play_has_result", f"round {request.round} has its result")
        if self._asked[request.table, request.round] >= MOST:
            raise Refused("counted_too_often", f"round {request.round} has had {MOST} counts")

    def _counted(self, request: CountRequest) -> AnyAnswer:
        try:
            counted = self._count(request)
        except RuleError as refusal:
            return NotCounted(code=refusal.code)
        elements = tuple(CountedFan(id=one.id, fan=one.fan) for one in counted.elements)
        return McrValue(fan=counted.fan, minimum=self._minimum, elements=elements)

    @property
    def _minimum(self) -> int:
        rules = self._event.profile
        return 0 if isinstance(rules, RiichiProfile) else rules.payments.minimum.value

    def _count(self, request: CountRequest) -> Count:
        laid = sort_out(request.groups, self._event.order(request.deal), request.seat)
        faces = self._event.faces(request.deal)
        hand = Hand(
            tuple(faces[serial] for serial in laid.concealed),
            faces[laid.winning],
            tuple(_meld(meld, faces.__getitem__) for meld in laid.melds),
        )
        return count(hand, self._situation(request, laid))

    def _situation(self, request: CountRequest, laid: LaidHand) -> Situation:
        prevalent, dealer = self._event.winds(request.deal)
        return Situation(
            self_drawn=laid.discarder is None,
            seat_wind=seat_wind(request.seat, dealer),
            prevalent_wind=prevalent,
            last_of_kind=request.said.last_of_kind,
            last_tile=request.said.last_tile,
            kong=request.said.kong,
        )


def _declarers(request: CountRequest, told: Iterable[LogMessage]) -> frozenset[Seat]:
    """Give who has declared in a play, by the button; anybody where an arbiter has put that right at the table."""
    found: set[Seat] = set()
    for fact in (one.fact for one in told if (one.fact.round, one.fact.deal) == (request.round, request.deal)):
        if isinstance(fact, Declared):
            found.update(press.seat for press in fact.presses)
        elif isinstance(fact, Overridden) and CORRECTED in fact.guards:
            found.update(SEATS)
    return frozenset(found)


def _meld(meld: LaidMeld, face: Callable[[int], str]) -> Meld:
    """Give a meld by its faces. Raises RuleError `not_a_meld`."""
    tiles = tuple(sorted(map(face, meld.serials)))
    if len(tiles) == KONG:
        return Meld("kong", tiles, concealed=meld.concealed)
    return Meld("pung" if len(set(tiles)) == 1 else "chow", tiles)
