"""Reconstruct how plays went, from the tiles that tables have read after them, or from a file with what was laid.

A search takes from a hundredth of a second to some seconds, so the scorer runs it on a separate thread. Results are
stored with the event (`hands.json`), for replays and records, and the table is told how much of the play is proved.
Scoring does not use them, and no table learns a face: every failure that depends on faces gets the same answer.
"""

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Final

from msgspec import Struct

from broker.errors import BadEvent, RuleError
from broker.event import Event, HandRecord, read_hands, write_hands
from broker.logs import get_logger
from broker.protocol import LaidSeat, LogMessage, PlayFound, Seat, TilesLaid
from broker.rules import Outcome, Profile
from broker.rules.mcr import Ending, FoundPlay, Hu, Judge, count_hu, play_from_rivers, replay_actions
from broker.rulings import CountedPlay, PlayKey
from broker.scorer.state import EventState
from broker.store import Journal

log = get_logger("homologue.scorer")

MOST_UNREAD: Final = 6
"""Unread tiles with which a search is still quick. With more of them, no search is made for a table."""

MOST_UNREAD_IN_MELDS: Final = 2
"""Unread tiles among these that may be in melds. Every possible tile is tried, which takes half a minute for three."""

WRITE_PAUSE_S: Final = 10.0
"""Interval between writes. Each write rewrites all stored plays."""

SEARCHED: Final = "play_searched:"
"""Key prefix in the store, followed by table and round, for the last search's mark, with a code if it failed."""

OF_FACES: Final = frozenset({"not_a_meld", "no_play_fits"})
"""Codes that could reveal faces to a table. It is sent the last one for all of them."""


class WrittenSeat(LaidSeat, frozen=True, forbid_unknown_fields=True):
    """The laid tiles of a seat as written by a person: an unknown field is an error."""


class LaidPlay(Struct, frozen=True, forbid_unknown_fields=True):
    """The tiles laid at the end of a play, by serial, as read by a camera or a person."""

    seats: dict[Seat, WrittenSeat]
    winning: int | None = None
    """The winning tile. None: on a discard, the last tile of the discarder's river."""


def find_play(event: Event, play: CountedPlay, laid: LaidPlay | TilesLaid) -> tuple[FoundPlay, HandRecord]:
    """Return how a recorded play went, and its record. Raises RuleError: `play_unknown`, or of `play_from_rivers`."""
    rules = event.profile
    if play.win is None or not isinstance(rules, Profile):
        raise RuleError("play_unknown", f"table {play.table} has no MCR result in round {play.round}")
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
    """Return a judge that gives each winning hand its recorded value."""

    def judge(hu: Hu) -> int:
        count_hu(hu)
        return play.winners.get(hu.seat, 0)

    return judge


def store_plays(folder: Path, hands: Iterable[HandRecord]) -> None:
    """Store how plays went with the event, replacing earlier records. Raises BadEvent, OSError."""
    records = {(one.round, one.table): one for one in (*read_hands(folder), *hands)}
    write_hands(folder, records.values())


class PlayFinder:
    """Reconstructs the plays of an event whose plan asks for it.

    `publish` is called with the answers for tables, through `post` on the scorer's thread. `seconds` is a monotonic
    clock. All plays are in one file, so several are written together; a play that was not written is searched again at
    the next start.
    """

    answers = True
    """Whether tables are sent answers. At the centre their halls do that."""

    def __init__(
        self,
        folder: Path,
        state: EventState,
        journal: Journal,
        publish: Callable[[LogMessage, PlayFound], None],
        post: Callable[[Callable[[], None]], None],
        seconds: Callable[[], float],
    ) -> None:
        self._folder, self._state, self._journal, self._publish, self._post = folder, state, journal, publish, post
        self._thread = ThreadPoolExecutor(1, "plays")
        self._seconds, self._write_from, self._writing = seconds, 0.0, Lock()
        self.unwritten: dict[str, tuple[HandRecord, str]] = {}
        """Reconstructed plays not yet written, with the mark of each search."""
        self._up = False
        self._unsent: list[tuple[LogMessage, PlayFound]] = []
        """Answers that wait for a connection."""

    def load(self, stored: Iterable[LogMessage]) -> None:
        """Search the stored plays whose search was not finished when the scorer last stopped. Raises BadEvent."""
        laid = {_key(one): one for one in stored if isinstance(one.fact, TilesLaid)}
        known = {(hand.table, hand.round) for hand in read_hands(self._folder)} if laid else set()
        searched = self._journal.stored_values(SEARCHED) if laid else {}

        def is_done(key: PlayKey, message: LogMessage) -> bool:
            try:
                mark = _mark(message, self._state.play(key))
            except KeyError:
                return False
            stored_mark = searched.get(_name(key), "")
            return (stored_mark == mark and key in known) or stored_mark.startswith(f"{mark} ")

        self.take(message for key, message in laid.items() if not is_done(key, message))

    def take(self, laid: Iterable[LogMessage]) -> None:
        """Start searching for plays, as they are currently recorded. Only the last message of each play is used."""
        for key, message in {_key(one): one for one in laid}.items():
            try:
                play = self._state.play(key)
            except KeyError:
                play = None
            if not self._state.planned.plan.keep_plays:
                self._answer(message, PlayFound(round=key[1], code="not_kept_here"))
            elif play is None or play.deal != message.fact.deal:
                self._answer(message, PlayFound(round=key[1], code="play_unknown"))
            else:
                find = partial(find_play, self._state.event, play)
                self._thread.submit(self._search, message, _mark(message, play), find)

    def check(self) -> None:
        """Start writing the results, if that is due."""
        if self._write_is_due():
            self._thread.submit(self._write)

    def connection_changed(self, *, up: bool) -> None:
        """Send the answers that were found while there was no connection."""
        self._up = up
        unsent, self._unsent = self._unsent, []
        for message, answer in unsent:
            self._send(message, answer)

    def close(self) -> None:
        """Cancel the searches that have not begun, and write the results."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._write()

    def _send(self, message: LogMessage, answer: PlayFound) -> None:
        if self._up:
            self._publish(message, answer)
        else:
            self._unsent.append((message, answer))

    def _answer(self, message: LogMessage, answer: PlayFound) -> None:
        if self.answers:
            self._post(partial(self._send, message, answer))

    def _search(
        self, message: LogMessage, mark: str, find: Callable[[TilesLaid], tuple[FoundPlay, HandRecord]]
    ) -> None:
        fact = message.fact
        if not isinstance(fact, TilesLaid):
            return
        name = _name(_key(message))
        try:
            answer, hand = self._reconstruct(fact, find)
            with self._writing:
                self.unwritten[name] = hand, mark
        except RuleError as refused:
            code = "no_play_fits" if refused.code in OF_FACES else refused.code
            answer = PlayFound(round=fact.round, code=code)
            self._store_marks({name: f"{mark} {code}"})
        except Exception:  # whatever happens, the thread goes on and the table gets an answer
            log.exception("play_not_kept", table=message.table, round=fact.round)
            answer = PlayFound(round=fact.round, code="play_not_kept")
        self._answer(message, answer)
        if self._write_is_due():
            self._write()

    def _reconstruct(
        self, fact: TilesLaid, find: Callable[[TilesLaid], tuple[FoundPlay, HandRecord]]
    ) -> tuple[PlayFound, HandRecord]:
        laid = fact.seats.values()
        in_melds = sum(meld.count(None) for one in laid for meld in one.melds)
        elsewhere = sum(row.count(None) for one in laid for row in (one.river, one.hand or ()))
        if in_melds > MOST_UNREAD_IN_MELDS or in_melds + elsewhere > MOST_UNREAD:
            raise RuleError("too_much_unread", f"{in_melds} tiles of melds are not read, and {elsewhere} others")
        found, hand = find(fact)
        if found.irregular:
            raise RuleError("play_irregular", "somebody drew out of turn, which no record can express")
        proved = sum(step.share == 1 for step in found.steps)
        return PlayFound(round=fact.round, steps=len(found.steps), proved=proved), hand

    def _write_is_due(self) -> bool:
        """Return whether to write now. If so, the next interval begins."""
        now = self._seconds()
        if not self.unwritten or now < self._write_from:
            return False
        self._write_from = now + WRITE_PAUSE_S
        return True

    def _write(self) -> None:
        """Write the results. If that fails, it is tried again, or the plays are searched again at the next start."""
        with self._writing:
            if not self.unwritten:
                return
            try:
                store_plays(self._folder, (hand for hand, _ in self.unwritten.values()))
            except (BadEvent, OSError):
                log.exception("plays_not_written", plays=len(self.unwritten))
                return
            self._store_marks({name: mark for name, (_, mark) in self.unwritten.items()})
            self.unwritten.clear()

    def _store_marks(self, marks: Mapping[str, str]) -> None:
        """Store the marks of finished searches. Call it only once their results are written."""
        self._post(partial(self._commit_marks, marks))

    def _commit_marks(self, marks: Mapping[str, str]) -> None:
        with self._journal.commit():
            for name, mark in marks.items():
                self._journal.set_value(SEARCHED + name, mark)


def _key(message: LogMessage) -> PlayKey:
    return message.table, message.fact.round


def _name(key: PlayKey) -> str:
    return f"{key[0]}/{key[1]}"


def _mark(message: LogMessage, play: CountedPlay) -> str:
    """Return what a search depends on: the message with the tiles, and the outcome as it counts."""
    return f"{message.id} {play.source}"
