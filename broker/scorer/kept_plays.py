"""How plays went, found from the tiles that tables have read after them, or from a file that says what lay there.

A search takes from a hundredth of a second to some seconds, so the scorer has it done on a thread of its own. What is
found is kept with the event (`hands.json`), for replays and records; its table is told how much of it is proved.
Nothing that is scored knows of it, and no table learns a face: what depends on faces has one answer.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from broker.event import Event, HandRecord, read_hands, write_hands
from broker.logs import get_logger
from broker.protocol import LaidSeat, LogMessage, Message, PlayFound, Seat, TilesLaid
from broker.rules import Outcome, Profile, RuleError
from broker.rules.mcr import Ending, FoundPlay, Hu, Judge, count_hu, play_from_rivers, replay_actions
from broker.rulings import CountedPlay
from broker.scorer.inbox import PendingCall
from broker.scorer.state import EventState

log = get_logger("homologue.scorer")

MOST_UNREAD: Final = 6
"""Unread tiles with which the search is still quick: with more of them, nothing is found for a table."""

MOST_UNREAD_IN_MELDS: Final = 2
"""Of these: all that may lie there is tried, which takes half a minute for three."""

OF_FACES: Final = frozenset({"not_a_meld", "no_play_fits"})
"""Codes from which a table could learn something of faces: it is told the last one for all."""


class WrittenSeat(LaidSeat, frozen=True, forbid_unknown_fields=True):
    """The same as somebody has written it: a field that there is not is a mistake."""


class LaidPlay(Struct, frozen=True, forbid_unknown_fields=True):
    """What lay on the table at the end of a play, by its serials, as a camera or a person has read it."""

    seats: dict[Seat, WrittenSeat]
    winning: int | None = None
    """The winning tile; None: of a discard the last of its river."""


def find_play(event: Event, play: CountedPlay, laid: LaidPlay | TilesLaid) -> tuple[FoundPlay, HandRecord]:
    """Return how a recorded play went, and its record. Raises RuleError `play_unknown` or as `play_from_rivers`."""
    rules = event.profile
    if play.win is None or not isinstance(rules, Profile):
        raise RuleError("play_unknown", f"table {play.table} has no result of MCR in round {play.round}")
    deal = event.open_deal(play.deal)
    ending = Ending(Outcome(play.win, play.winners, play.discarder), laid.winning)
    found = play_from_rivers(deal, event.order(play.deal), laid.seats, ending)
    if not found.irregular:
        replay_actions(deal, found.actions, rules.payments, recorded_judge(play))
    sure = {id(step.action) for step in found.steps if step.share == 1}
    unproved = (
        number for number, action in enumerate(found.actions, 1) if action.do != "no_claim" and id(action) not in sure
    )
    return found, HandRecord(play.round, play.table, play.deal, found.actions, tuple(unproved))


def recorded_judge(play: CountedPlay) -> Judge:
    """Judge that a hand is worth what was recorded, if it is a win at all."""

    def judge(hu: Hu) -> int:
        count_hu(hu)
        return play.winners.get(hu.seat, 0)

    return judge


def keep_play(folder: Path, hand: HandRecord) -> None:
    """Keep how a play went with the event, in the place of what was known of it. Raises BadEvent, OSError."""
    others = [one for one in read_hands(folder) if (one.round, one.table) != (hand.round, hand.table)]
    write_hands(folder, (*others, hand))


class PlayFinder:
    """Finds the plays of an event that wishes it.

    `publish` gets what is for a table, by `post` on the scorer's thread.
    """

    def __init__(
        self,
        folder: Path,
        state: EventState,
        publish: Callable[[LogMessage, PlayFound], None],
        post: Callable[[PendingCall[None]], None],
    ) -> None:
        self._folder, self._state, self._publish, self._post = folder, state, publish, post
        self._thread = ThreadPoolExecutor(1, "plays")

    def load(self, stored: Iterable[LogMessage]) -> None:
        """Find what was stored and not found before the scorer was last ended. Raises BadEvent."""
        laid = [one for one in stored if isinstance(one.fact, TilesLaid)]
        known = {(hand.table, hand.round) for hand in read_hands(self._folder)} if laid else set()
        self.take(one for one in laid if (one.table, one.fact.round) not in known)

    def take(self, messages: Iterable[Message | None]) -> None:
        """Begin to find the plays of which these tell, as they are recorded now; of several the last one of a play."""
        laid = (one for one in messages if isinstance(one, LogMessage) and isinstance(one.fact, TilesLaid))
        newest = {(one.table, one.fact.round): one for one in laid}
        for key, message in newest.items():
            try:
                play = self._state.play(key)
            except KeyError:
                play = None
            if not self._state.planned.plan.keep_plays:
                self._tell(message, PlayFound(round=message.fact.round, code="not_kept_here"))
            elif play is None or play.deal != message.fact.deal:
                self._tell(message, PlayFound(round=message.fact.round, code="play_unknown"))
            else:
                self._thread.submit(self._find, message, partial(find_play, self._state.event, play))

    def close(self) -> None:
        """Begin no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _tell(self, message: LogMessage, answer: PlayFound) -> None:
        self._post(PendingCall(partial(self._publish, message, answer)))

    def _find(self, message: LogMessage, find: Callable[[TilesLaid], tuple[FoundPlay, HandRecord]]) -> None:
        fact = message.fact
        if not isinstance(fact, TilesLaid):
            return
        try:
            answer = self._found(fact, find)
        except RuleError as refused:
            code = "no_play_fits" if refused.code in OF_FACES else refused.code
            answer = PlayFound(round=fact.round, code=code)
        except Exception:  # whatever it is: the thread goes on, and the table waits for an answer
            log.exception("play_not_kept", table=message.table, round=fact.round)
            answer = PlayFound(round=fact.round, code="play_not_kept")
        self._tell(message, answer)

    def _found(self, fact: TilesLaid, find: Callable[[TilesLaid], tuple[FoundPlay, HandRecord]]) -> PlayFound:
        laid = fact.seats.values()
        in_melds = sum(meld.count(None) for one in laid for meld in one.melds)
        elsewhere = sum(row.count(None) for one in laid for row in (one.river, one.hand or ()))
        if in_melds > MOST_UNREAD_IN_MELDS or in_melds + elsewhere > MOST_UNREAD:
            raise RuleError("too_much_unread", f"{in_melds} tiles of melds are not read, and {elsewhere} others")
        found, hand = find(fact)
        if found.irregular:
            return PlayFound(round=fact.round, code="play_irregular")
        keep_play(self._folder, hand)
        proved = sum(step.share == 1 for step in found.steps)
        return PlayFound(round=fact.round, steps=len(found.steps), proved=proved)
