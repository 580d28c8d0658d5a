"""The state of an event: a fold over the accepted messages of its journal.

Messages may arrive in any order. Facts count in the order of their numbers, and only where they follow
(`quarantine.py`). Rulings are applied to what the tables sent, in the order in which they were given. A ruling changes
only the deals that it affects.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from broker.event import Event
from broker.protocol import (
    APART_DECISIONS,
    Adjusted,
    CheckedIn,
    Correct,
    Discarded,
    LogMessage,
    PlanChanged,
    Reopen,
    Restored,
    Result,
    Ruled,
    Ruling,
    Seat,
    Seated,
    TakenOver,
    TeamStanding,
    Void,
    Withdrawn,
)
from broker.rules import Rules
from broker.rulings import (
    WHO_PLAYS,
    CountedPlay,
    PlayKey,
    RulingBook,
    RulingEntry,
    Subject,
    adjustments,
    apply_rulings,
    entry_of,
    follows_plan,
    form_of,
    imps_of_absent,
    plan,
    result_of,
    settled_by_ruling,
    unruled_play,
    with_points_of_deal,
)
from broker.scorer.quarantine import WAITS, ApartDecisions, ApartFact, ApartPlay, Judged, PlaysCheck, Quarantine
from broker.scorer.snapshot import (
    PlayCounts,
    Results,
    Snapshot,
    out_of_place,
    planned_play,
    staged_team_rows,
    team_rows,
)
from broker.scorer.standings import SectionStandings, TeamState
from broker.scorer.tables import TableFacts
from broker.scorer.whole_plays import WholePlay, message_of_result, outcome_of
from broker.scoring import TABLE_OFFSET, Adjustment, ComparisonGroup, Ledger, Ranking, ScoredPlay, table_of, team_bounds
from broker.store import Recorded

PASSING: Final = (Correct, Void, Adjusted, *APART_DECISIONS)
"""Rulings on a play after which its table may have been told to skip it."""


def _nothing(_: Judged) -> None:
    """Ignore a judged fact."""


class EventState:
    """Results, forms and rulings of all plays so far, compared as they arrive."""

    def __init__(self, event: Event) -> None:
        self.original = event
        """The event as planned before its first play."""
        self.planned = event
        """The event with the changes of who plays that count."""
        self.event = event
        """The planned event as corrected by rulings. Replaced as a whole, so any thread may read it."""
        self.checked_in: Mapping[str, bool] = MappingProxyType({})
        """Whether each player has checked in, where known. Also replaced as a whole."""
        self.tables = TableFacts(event.session_rules)
        """Projections of the tables' facts other than results."""
        self.quarantine = Quarantine(event, self._may_skip, self._decisions_of)
        """Facts that do not follow. They count only if the head arbiter admits them (`TakenOver`)."""
        self._results: dict[PlayKey, LogMessage | WholePlay] = {}
        self.results = Results(self._results)
        """Results entered by tables or admitted by arbiters. `play` returns what counts of them."""
        self._followed: dict[PlayKey, LogMessage | None] = {}
        """For plays with admitted facts, the result that would count without those."""
        self._taken_over: dict[PlayKey, dict[str, LogMessage]] = {}
        """For the same plays, the admitted facts, by id."""
        self._other_results: dict[PlayKey, list[LogMessage]] = {}
        """Further results of a play, kept until the fact that reopened it between the two arrives."""
        self._forms: dict[PlayKey, tuple[tuple[int, str], ...]] = {}
        """Forms restored for each play, with the facts' numbers. Whole plays have none, as they are as planned."""
        self.book = RulingBook()
        self.results_then: dict[str, str | None] = {}
        """For each ruling on a play, by id: the id of the result that counted just after it, or None."""
        self._ruled: dict[PlayKey, CountedPlay] = {}
        """Plays with a ruling on them or on their deal."""
        self.elsewhere: frozenset[int] | None = frozenset() if event.among_halls else None
        """In a hall, the deals that all halls have played, as reported by the centre."""
        self._counts = PlayCounts(event, self.elsewhere)
        self._ledger = Ledger.of((), event.profile, event.players)
        self.teams = self._no_deals_of_teams()
        self._snapshot: Snapshot | None = None

    def load(
        self,
        messages: Iterable[Recorded],
        passed: Iterable[tuple[int, int]] = (),
        judged: Callable[[Judged], None] = _nothing,
        *,
        judged_from: int | None = 0,
        lost: Iterable[tuple[int, int]] = (),
    ) -> None:
        """Add a whole journal. Plays are compared once at its end, not after each of them.

        `passed`: table and number of facts not waited for. `judged` is called with each fact once it counts or is kept
        apart. `judged_from`: number of messages from before plays were judged, which count as they did then; None: all.
        `lost`: table and number of facts that cannot be read any longer, but after which others have followed.
        """
        for table, seq in lost:
            self.quarantine.mark_lost(table, seq)
        for table, seq in passed:
            self._load_judged(self.quarantine.pass_over(table, seq), judged)
        for number, message in enumerate(messages):
            self._load(message, judged, before=judged_from is None or number < judged_from)
        self._count_all()

    def _count_all(self) -> frozenset[int]:
        """Count everything from the start. Return all deals."""
        self._ruled, self._counts = {}, PlayCounts(self.planned, self.elsewhere)
        self._counts.load({key: outcome_of(result).deal for key, result in self._followed_results().items()})
        for entry in self.book.entries.values():  # rulings on plays first: they may change the deal played
            self._count_ruled(key for key in self._plays_of_entry(entry) if entry.play)
        for entry in self.book.entries.values():
            self._count_ruled(self._plays_of_entry(entry))
        self.count(self.scored(), self.complete)
        return frozenset(self._counts.expected)

    def take_all(self, plays: Sequence[WholePlay], are_valid: PlaysCheck) -> bool:
        """Add plays of a journal as `take_whole` does, but all or none: none if any of them needs a closer look."""
        ruled = bool(self.book.entries) and any(self.book.last(one.key) is not None for one in plays)
        if ruled or self.planned is not self.original or not self.quarantine.take_all(plays, are_valid):
            return False
        self._take(plays)
        return True

    def take_whole(self, plays: Iterator[WholePlay], are_valid: PlaysCheck) -> WholePlay | None:
        """Add plays of a journal while loading it, each as a whole. Return the first that must be judged fact by fact.

        A play is added if it is next, as now planned, without rulings, and `are_valid` allows it. It causes no alerts.
        """
        added, judged, may_differ = list[WholePlay](), None, bool(self.book.entries)
        for play in plays:
            ruled = may_differ and (self.book.last(play.key) is not None or self._off_plan(play.key, play.players))
            if ruled or not are_valid((play,)) or not self.quarantine.take_whole(play):
                judged = play
                break
            self.tables.clock.take_whole(play)
            added.append(play)
        self._take(added)
        return judged

    def _take(self, plays: Sequence[WholePlay]) -> None:
        by_key = {one.key: one for one in plays}
        if self._followed or not self._results.keys().isdisjoint(by_key):
            for key, play in by_key.items():
                self._add_result(key, play.result)
        else:
            self._results.update(by_key)
        self.tables.take_whole(plays)

    def release(self, elsewhere: frozenset[int]) -> frozenset[int]:
        """Set the deals that all halls have played. Return those that have become complete or incomplete."""
        self.elsewhere, self._snapshot = elsewhere, None
        self.teams.update(self._ledger, changed := self._counts.release(elsewhere), self.complete)
        return changed

    def count(self, plays: Iterable[ScoredPlay], complete: Callable[[int], bool]) -> None:
        """Compare and total these plays instead of all previous ones. `complete` returns whether a deal is complete."""
        ledger = Ledger.of(plays, self.planned.profile, self.planned.players)
        self._ledger = ledger.with_adjustments(self._all_adjustments())
        self.teams = self._no_deals_of_teams()
        self.teams.update(self._ledger, self.planned.expected, complete)

    def _no_deals_of_teams(self) -> TeamState:
        return TeamState(self.planned.plan.teams, self.planned.profile, self.planned.teams_of_deal)

    def _load(self, message: Recorded, judged: Callable[[Judged], None], *, before: bool) -> None:
        if isinstance(message, LogMessage):
            judge = self.quarantine.count if before else self.quarantine.take
            self._load_judged(judge(message), judged)
            if self.quarantine.late:
                self._load_judged(self.quarantine.judge_late(), judged)
        elif isinstance(message, Ruling):
            self._add(message)
            for table in self._tables_of(message):
                self._load_judged(self.quarantine.judge_again(table), judged)

    def _load_judged(self, found: Iterable[Judged], judged: Callable[[Judged], None]) -> None:
        for one in found:
            if isinstance(one, LogMessage):
                self._add(one)
            judged(one)

    def apply(self, message: LogMessage | Ruling, judged: Callable[[Judged], None] = _nothing) -> frozenset[int]:
        """Add one accepted message. Return the deals whose comparison it may have changed.

        `judged` is called with each fact once it counts or is kept apart.
        """
        if isinstance(message, LogMessage):
            return self.apply_fact(message, judged) | self.judge_late(judged)
        deals = self._apply_one(message)
        for table in self._tables_of(message):
            deals |= self._apply_judged(self.quarantine.judge_again(table), judged)
        return deals

    def apply_fact(self, message: LogMessage, judged: Callable[[Judged], None] = _nothing) -> frozenset[int]:
        """Add one fact of a batch. Call `judge_late` at the end of the batch."""
        return self._apply_judged(self.quarantine.take(message), judged)

    def judge_late(self, judged: Callable[[Judged], None] = _nothing) -> frozenset[int]:
        """Judge again the tables with late facts in a batch. Return the deals that may have changed."""
        return self._apply_judged(self.quarantine.judge_late(), judged)

    def pass_over(self, table: int, seq: int, judged: Callable[[Judged], None] = _nothing) -> frozenset[int]:
        """Stop waiting for a table's fact. Return the deals that this may have changed."""
        return self._apply_judged(self.quarantine.pass_over(table, seq), judged)

    def _apply_judged(self, found: Iterable[Judged], judged: Callable[[Judged], None]) -> frozenset[int]:
        deals: frozenset[int] = frozenset()
        for one in found:
            if isinstance(one, LogMessage):
                deals |= self._apply_one(one)
            judged(one)
        return deals

    def _apply_one(self, message: LogMessage | Ruling) -> frozenset[int]:
        """Add a ruling, or a fact that counts."""
        planned = self.planned
        if is_ruling := not isinstance(message, LogMessage) or isinstance(message.fact, Ruled):
            keys = self._plays_of_entry(entry_of(message))
        else:
            key, counts = (message.table, message.fact.round), isinstance(message.fact, Result | Restored)
            keys = [key] if counts and key in planned.bookings else []
        adjusts = is_ruling or not self._ruled.keys().isdisjoint(keys)
        adjusted = self._all_adjustments() if adjusts else []
        before = {key: self.play(key) for key in keys}
        self._add(message)
        if self.planned is not planned:
            return self._count_all() | planned.expected.keys()
        deals = self._recount(before)
        if adjusts:
            taken_back = (Adjustment(one.name, -one.imp, -one.fine) for one in adjusted)
            self._ledger = self._ledger.with_adjustments((*taken_back, *self._all_adjustments()))
        if any(one.name not in planned.players for one in adjusted):
            self.count(self.scored(), self.complete)  # removes the line of a player who has left and was only fined
        return deals

    def fork(self) -> "EventState":
        """Return a copy in which a ruling can be tried."""
        new = EventState(self.original)
        new.planned, new.event, new.elsewhere = self.planned, self.event, self.elsewhere
        new.checked_in = self.checked_in
        new.tables = TableFacts(self.original.session_rules, self.tables.seatings.copy())
        new.quarantine = self.quarantine.copy(new._may_skip, new._decisions_of)
        new._followed, new._taken_over = dict(self._followed), dict(self._taken_over)
        new._results.update(self._results)
        new._other_results, new._forms = dict(self._other_results), dict(self._forms)
        new.book, new.results_then, new._ruled = self.book.copy(), dict(self.results_then), dict(self._ruled)
        new._counts, new._ledger, new.teams = self._counts.copy(), self._ledger, self.teams.copy()
        return new

    def with_rules(self, profile: Rules) -> "EventState":
        """Return the same results and rulings, compared by another profile. Payments stay as they were."""
        new = EventState(self.planned.under(profile))
        new.event, new.quarantine, new._taken_over = self.event.under(profile), self.quarantine, self._taken_over
        new._followed, new._forms, new.book = dict(self._followed), dict(self._forms), self.book.copy()
        new._results.update(self._results)
        new._ruled = {key: new.play_under(key, new.book) for key in self._ruled}
        return new

    # ---- messages ---------------------------------------------------------------------------

    def _add(self, message: LogMessage | Ruling) -> None:
        if not isinstance(message, LogMessage) or isinstance(message.fact, Ruled):
            self._add_ruling(message)
            return
        fact, key = message.fact, (message.table, message.fact.round)
        self.tables.apply(message)
        if isinstance(fact, Restored):
            self._forms[key] = (*self._forms.get(key, ()), (message.seq, fact.form))
        elif isinstance(fact, Result):
            self._add_result(key, message)
        if isinstance(fact, Seated | Result) and self._off_plan(key, fact.players):
            self._replan()

    def _off_plan(self, key: PlayKey, players: Mapping[Seat, str]) -> bool:
        """Return whether the players at a table differ from the plan after a change of who plays."""
        return self.planned is not self.original and not follows_plan(self.planned, key, players.values())

    def _add_ruling(self, message: LogMessage | Ruling) -> None:
        entry = entry_of(message)
        entry = replace(entry, back=plan.restores_player(self.planned, self.event, entry.decision))
        self.book.add(entry)
        self.event = plan.corrected_event(self.planned, self.event, self.book, entry)
        root = self.book.root(entry)
        about = root.play
        if isinstance(root.decision, TakenOver) and about is not None:
            self._take_over(about)
        # An admitted fact may have begun a play. If the ruling is withdrawn, the play has not begun.
        if isinstance(root.decision, PlanChanged | TakenOver) and self.book.last(WHO_PLAYS):
            self._replan()
        elif isinstance(root.decision, CheckedIn):
            self.checked_in = plan.checked_in(self.checked_in, self.book, root.decision.player)
        if about is not None:
            self.results_then[entry.id] = self.results[about].id if about in self.results else None
        if isinstance(message, LogMessage):
            key = message.table, message.fact.round
            for other in self._other_results.pop(key, []):
                self._add_result(key, other)

    def _replan(self) -> None:
        """Apply the changes of who plays that count. Results are then recounted by `_count_all`."""
        self.planned = plan.planned_event(self.original, self.book, self.tables.seatings.begun())
        self.event = plan.with_corrections(self.planned, self.event)

    # ---- facts admitted by the head arbiter -------------------------------------------------

    def _tables_of(self, ruling: Ruling) -> set[int]:
        """Return the tables in which a ruling may change which facts follow."""
        root = self.book.root(self.book.entries[ruling.id])
        if isinstance(root.decision, PlanChanged):
            return set(self.original.tables)
        return {root.play[0]} if root.play else {table for table, _ in self._plays_of_entry(root)}

    def _may_skip(self, key: PlayKey) -> bool:
        """Return whether there was ever a ruling on a play after which its table may have been told to skip it."""
        if any(isinstance(entry.decision, PASSING) for entry in self.book.all_of(key)):
            return True
        booking = self.planned.bookings.get(key)
        players = booking.players.values() if booking else ()
        return any(
            (isinstance(one, Withdrawn) and one.first_round <= key[1] and one.player in players)
            or (isinstance(one, PlanChanged) and key[::-1] in one.dropped)
            for one in (entry.decision for entry in self.book.all_of(WHO_PLAYS))
        )

    def _decisions_of(self, table: int) -> ApartDecisions:
        """Return the decisions on a table's facts that were kept apart."""
        ruled = [entry.decision for key in self.book.plays() if key[0] == table for entry in self.book.of(key)]
        return ApartDecisions(
            frozenset(id_ for one in ruled if isinstance(one, TakenOver) for id_ in one.facts),
            frozenset(id_ for one in ruled if isinstance(one, Discarded) for id_ in one.facts),
        )

    def undecided(self, key: PlayKey) -> list[ApartFact]:
        """Return the facts of a play that are kept apart without a decision on them."""
        return self._undecided(key, self.quarantine.apart(key))

    def _undecided(self, key: PlayKey, apart: list[ApartFact]) -> list[ApartFact]:
        decisions = (entry.decision for entry in self.book.of(key))
        named = {id_ for one in decisions if isinstance(one, TakenOver | Discarded) for id_ in one.facts}
        return [one for one in apart if one.message.id not in named]

    def apart_plays(self, table: int | None = None) -> list[ApartPlay]:
        """Return the plays kept apart that need a decision, by rounds, at a table or all; waiting ones come last."""
        return sorted(self.quarantine.apart_plays(self._undecided, table), key=lambda one: one.codes == (WAITS,))

    def play_as_sent(self, message: LogMessage) -> CountedPlay:
        """Return a play according to a result from its table, whether or not that counts."""
        key = message.table, message.fact.round
        event = self.original if key in self.planned.dropped else self.planned
        return apply_rulings(planned_play(event, key), message, (), event.profile.awards)

    def _admitted(self, key: PlayKey, book: RulingBook) -> dict[str, list[LogMessage]]:
        """Return the admitted facts of a play, by the rulings that admitted them, in the order of those."""
        decisions = {one.id: one.decision for one in book.of(key) if isinstance(one.decision, TakenOver)}
        apart = {one.message.id: one.message for one in self.quarantine.apart(key)} if decisions else {}
        return {id_: [apart[one] for one in decision.facts if one in apart] for id_, decision in decisions.items()}

    def _take_over(self, key: PlayKey) -> None:
        """Update which facts of a play count because the head arbiter has admitted them."""
        admitted = self._admitted(key, self.book)
        for ruling, facts in admitted.items():
            for message in facts:
                if isinstance(message.fact, Ruled):
                    self.book.add_taken(entry_of(message), ruling)
        now = {message.id: message for facts in admitted.values() for message in facts}
        before = self._taken_over.get(key, {})
        for message in before.values():
            self.tables.leave_out(message)
        for message in now.values():
            self.tables.take_over(message)
        self._taken_over[key] = now
        self._set_result(key, self._followed.get(key, self.results.get(key)))

    def _set_result(self, key: PlayKey, followed: LogMessage | None) -> None:
        """Store the result that a play has without admitted facts, and set the one that counts instead, if any."""
        self._followed[key] = followed
        if (result := self.result_under(key, self.book)) is not None:
            self._results[key] = result
        else:
            self._results.pop(key, None)

    def result_under(self, key: PlayKey, book: RulingBook | None, *, entered: bool = True) -> LogMessage | None:
        """Return the result that counts with other rulings, or none. Not `entered`: as if no result had followed."""
        if key not in self._followed:
            return self.results.get(key) if entered else None
        found = self._followed[key] if entered else None
        admitted = self._admitted(key, book) if book else {}
        for ruling, facts in admitted.items():
            results = [one for one in facts if isinstance(one.fact, Result)]
            decision = self.book.entries[ruling].decision
            replaces = decision.replaces if isinstance(decision, TakenOver) else None
            if results and replaces == (found.id if found else None):
                found = max(results, key=lambda one: one.seq)
        return found

    def _followed_results(self) -> Mapping[PlayKey, LogMessage | WholePlay]:
        """Return the results that would count without admitted facts."""
        if not self._followed:
            return self._results
        found = {key: self.result_under(key, None) for key in {**self._results, **self._followed}}
        return {key: result for key, result in found.items() if result is not None}

    def _add_result(self, key: PlayKey, message: LogMessage) -> None:
        """Add a result. Of several, the first counts, or the one after the table was reopened, in any order."""
        followed = key in self._followed
        if followed and (previous := self._followed.pop(key)) is not None:
            self._results[key] = previous
        elif followed:
            self._results.pop(key, None)
        if key not in self.results:
            self._results[key] = message
        else:
            first, second = sorted((self.results[key], message), key=lambda result: result.seq)
            reopened = any(
                isinstance(entry.decision, Reopen) and entry.at_table and first.seq < entry.number < second.seq
                for entry in self.book.all_of(key)
            )
            if first.id != second.id and not reopened:
                self._other_results[key] = [*self._other_results.get(key, ()), second]  # a fork may have the old list
            self._results[key] = second if reopened else first
        if followed:
            self._set_result(key, self.results[key])
        if self.results[key].id == message.id:
            self.book.record_result(key, message.id)

    # ---- plays as they count ------------------------------------------------------------------------

    def play(self, key: PlayKey) -> CountedPlay:
        """Return a play as it counts. Raises KeyError if none is planned."""
        return self._ruled.get(key) or self.play_under(key, None)

    def scored(self) -> list[ScoredPlay]:
        """Return all plays of which something counts, in the form needed for scoring."""
        section_at = self.planned.section_at if self.planned.plan.stages else None
        unruled = [
            unruled_play(key[0], outcome, self._restored(key, result, outcome.deal), section_at and section_at(*key))
            for key, result in self._results.items()
            if key not in self._ruled
            for outcome in (outcome_of(result),)
        ]
        return unruled + [play for counted in self._ruled.values() if (play := counted.scored())]

    def adjustments(self) -> list[Adjustment]:
        """Return IMPs given or taken by rulings outside of plays, or to players who were not in them, by stages."""
        stages = {stage.name: at for at, stage in enumerate(self.planned.plan.stages)}
        begun = [(one.number, stages[change.stage]) for one, change in plan.plan_changes(self.book) if change.stage]
        return adjustments(
            self.book.of_the_event(),
            self.planned.profile.awards,
            lambda entry: max((at for number, at in begun if number < entry.number), default=0),
        ) + imps_of_absent(self._ruled.values(), self.planned.stage_of_deal)

    def _all_adjustments(self) -> list[Adjustment]:
        """Return all IMPs of players that belong to no play of the event."""
        return [*self.planned.brought("individual").adjustments, *self.adjustments()]

    def play_under(
        self, key: PlayKey, book: RulingBook | None, *, entered: bool = True, event: Event | None = None
    ) -> CountedPlay:
        """Return a play as it would count with other rulings or another plan. Not `entered`: without its result."""
        result, planned = self.result_under(key, book, entered=entered), planned_play(event or self.planned, key)
        awards = self.planned.profile.awards
        if book and result is None:
            planned = plan.adjusted_for_absences(planned, book.of(WHO_PLAYS), awards)
        play = apply_rulings(planned, result, book.of(key) if book else (), awards)
        play = with_points_of_deal(play, self.planned.winds(play.deal)[1], self.planned.profile)
        restored = self._restored(key, result, play.deal)
        return replace(play, form=form_of(key[0], restored, book.of(play.deal)) if book else restored)

    def _restored(self, key: PlayKey, result: LogMessage | WholePlay | None, deal: int) -> str:
        """Return the form that the table restored last before its result; one restored later changes no IMPs.

        It is of the planned deal. If another deal was played, that deal's own form is assumed.
        """
        forms = self._forms.get(key, ())
        if admitted := self._taken_over.get(key):
            forms += tuple((one.seq, one.fact.form) for one in admitted.values() if isinstance(one.fact, Restored))
        if not forms or deal != self.planned.places[key].deal:
            return self.planned.form(deal)
        before = [one for one in forms if result is None or one[0] < message_of_result(result).seq]
        return max(before)[1] if before else self.planned.form(deal)

    def _recount(self, plays: Mapping[PlayKey, CountedPlay]) -> frozenset[int]:
        """Recount plays, given as they counted before. Return the deals that this may have changed."""
        deals: set[int] = set()
        for key, before in plays.items():
            now = self.play_under(key, self.book)
            self._snapshot = self._snapshot if now == before else None  # a played void play moves no IMP
            if key in self._ruled or now != self.play_under(key, None):
                self._ruled[key] = now
            self._counts.replace(before, now)
            self._replace(before.scored(), now.scored())
            deals |= {before.deal, now.deal}
        self.teams.update(self._ledger, deals, self.complete)
        return frozenset(deals)

    def _count_ruled(self, keys: Iterable[PlayKey]) -> None:
        for key in list(keys):
            before = self.play(key)
            self._ruled[key] = self.play_under(key, self.book)
            self._counts.replace(before, self._ruled[key])

    def _replace(self, before: ScoredPlay | None, now: ScoredPlay | None) -> None:
        if before is not None and (now is None or now.key != before.key):
            self._ledger = self._ledger.without(before)
        if now is not None and now != before:
            self._ledger = self._ledger.with_play(now)

    def _plays_of_entry(self, entry: RulingEntry) -> list[PlayKey]:
        """Return the plays that a ruling is about; none for a riichi session."""
        subject = self.book.subject(entry)
        if isinstance(subject, tuple):
            return [subject] if subject in self.planned.bookings else []
        if isinstance(subject, int):
            return self.plays_with(subject)
        return plan.plays_of_ruling(self.planned, self.book.root(entry))

    # ---- read models ----------------------------------------------------------------------

    @property
    def profile(self) -> Rules:
        """The rules of the event."""
        return self.planned.profile

    @property
    def plays_in(self) -> int:
        """The number of plays with a result, or a ruling in its place."""
        return self._counts.at_table.total()

    def rounds_over(self) -> int:
        """Return the last round up to which every planned play is settled, or 0."""
        return self._counts.rounds_over()

    @property
    def over(self) -> bool:
        """Whether every play has a result, or a ruling in its place. From then on nothing is secret."""
        everywhere = self.elsewhere is None or self.planned.expected.keys() <= self._counts.all_complete()
        return self.plays_in == len(self.planned.plan.plays) and self.planned.all_seated and everywhere

    @property
    def final(self) -> bool:
        """Whether the standings are final: declared by the head arbiter, and nothing was reopened since."""
        return self.snapshot().final

    def last_message_id(self, subject: Subject) -> str | None:
        """Return the id of the last message about a subject: a ruling or, for a play, its result."""
        if (last := self.book.last_message_id(subject)) or not isinstance(subject, tuple):
            return last
        result = self.results.get(subject)
        return result.id if result else None

    def replanned(self, table: int) -> dict[int, int]:
        """Return the rounds in which a table has to play another deal than was planned, with those deals."""
        ruled = self._ruled_at(table)
        # A table refuses a plan that contradicts what it has played.
        now = {
            round_: result_of(self.results[table, round_]).deal if play.result else play.deal
            for round_, play in ruled.items()
        }
        return {round_: deal for round_, deal in now.items() if deal != self.planned.bookings[table, round_].deal}

    def recorded(self, table: int) -> tuple[int, ...]:
        """Return the rounds in which a table has nothing more to enter."""
        rounds = {round_ for round_ in self.planned.rounds_at.get(table, ()) if (table, round_) in self._results}
        ruled = {round_: play.settled for round_, play in self._ruled_at(table).items()}
        return tuple(sorted(one for one in rounds | ruled.keys() if ruled.get(one, True)))

    def settled(self, table: int) -> tuple[int, ...]:
        """Return the rounds settled by the desk before their table played them, which the table has to skip."""
        sources = {round_: play.source for round_, play in self._ruled_at(table).items() if play.settled}
        entries = {round_: self.book.entries.get(source or "") for round_, source in sources.items()}
        ruled = (round_ for round_, entry in entries.items() if entry and not entry.at_table)
        return tuple(sorted(round_ for round_ in ruled if (table, round_) not in self.results))

    def _ruled_at(self, table: int) -> dict[int, CountedPlay]:
        """Return a table's plays with rulings, by rounds."""
        rounds = self.planned.rounds_at.get(table, ()) if self._ruled else ()
        return {round_: self._ruled[table, round_] for round_ in rounds if (table, round_) in self._ruled}

    def plays_with(self, deal: int) -> list[PlayKey]:
        """Return the plays in which a deal was played, or is to be."""
        ruled = [key for key, play in self._ruled.items() if play.deal == deal]
        return ruled + [key for key in self.planned.plays_with(deal) if key not in self._ruled]

    def expected(self, deal: int) -> int:
        """Return the number of plays planned for a deal."""
        return self._counts.expected[deal]

    def plays_of(self, deal: int) -> int:
        """Return the number of settled plays of a deal."""
        return self._counts.of_deal[deal]

    def plays_at(self, table: int) -> int:
        """Return the number of settled plays at a table."""
        return self._counts.at_table[table]

    def complete(self, deal: int) -> bool:
        """Return whether every table, those of other halls included, has played the deal."""
        return self._counts.complete(deal)

    def touched(self) -> list[PlayKey]:
        """Return the plays that have a result or a ruling."""
        return [*self.results, *(key for key in self._ruled if key not in self.results)]

    def out_of_place(self) -> list[CountedPlay]:
        """Return the plays in which another deal was played than planned, or other players played it."""
        return [play for key, play in sorted(self._ruled.items()) if out_of_place(self.planned, key, play)]

    def key_of(self, play: ScoredPlay) -> PlayKey:
        """Return the table and round of a scored play."""
        table = table_of(play)
        if play.table != table:
            return table, play.table // TABLE_OFFSET
        return table, self.planned.rounds[play.deal, table]

    def snapshot(self) -> Snapshot:
        """Return all plays as they are now: the same object until a play changes."""
        last, declared = self._snapshot, self.book.declared is not None
        if last is None or last.ledger is not self._ledger or last.event is not self.event or last.declared != declared:
            without_result = {key: play for key, play in self._ruled.items() if key not in self.results}
            last = self._snapshot = Snapshot(
                self.event,
                self._ledger,
                self.results,
                self._counts.all_complete(),
                tuple(self._all_adjustments()),
                self.book.deadline,
                {key: (play, self.book.kinds(play)) for key, play in self._ruled.items()},
                settled_by_ruling(without_result, self.book),
                self.team_rows(),
                tuple(map(self.team_rows, range(len(self.event.plan.stages)))),
                self.teams.lineups,
                tuple(sorted(self.teams.left_out)),
                plan.stand_ins(self.book),
                declared,
                self.rounds_over(),
            )
        return last

    def groups(self) -> tuple[ComparisonGroup, ...]:
        """Compare all plays. While a table's restore record is missing, the deal's own form is assumed."""
        return self._ledger.groups

    def team_rows(self, stage: int | None = None) -> tuple[TeamStanding, ...]:
        """Return the teams' public standings: all, or those of a `stage`, with teams that have gone on since."""
        if not (event := self.planned).plan.teams:
            return ()
        if event.plan.stages:
            return staged_team_rows(event, self.team_sections(), self.complete, self.teams.won, stage)
        ranking, to_come = self.team_standings(), len(event.expected) - len(self._counts.all_complete())
        return team_rows(ranking, team_bounds(ranking, to_come, event.profile, self.teams.won))

    def team_sections(self) -> tuple[SectionStandings, ...]:
        """Return the teams' standings of each section of each stage. Empty in an event without stages or teams."""
        return self.teams.sections(self.planned, self.adjustments(), self.event.without_standing)

    def ranked_sections(self) -> tuple[SectionStandings, ...]:
        """Return the standings by which players, or teams, qualify for the next stage."""
        return self.team_sections() if self.planned.plan.teams else self.snapshot().sections

    def team_standings(self) -> Ranking:
        """Rank all teams of the event by the deals that all of them have played."""
        return self.teams.standings(self.planned, self.adjustments(), self.event.without_standing)
