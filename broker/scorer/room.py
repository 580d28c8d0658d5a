"""The room as the journal tells it: a fold over what was accepted.

What it says does not depend on the order in which the tables' messages came. Rulings are laid over what the tables
said, in the order in which they were given; one changes the deals that it touches and no other.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from broker.contract.facts import Restored, Result, Ruled
from broker.contract.messages import LogMessage, TeamStanding
from broker.contract.rulings import Reopen
from broker.contract.words import Seat
from broker.rules.rule_books import Rules
from broker.scorer.event import Event
from broker.scorer.moment import Moment
from broker.scorer.riichi import Sessions
from broker.scorer.rulings import absences, plan
from broker.scorer.rulings.book import Book
from broker.scorer.rulings.doubles import out_of_place
from broker.scorer.rulings.entry import WHO_PLAYS, Entry, PlayKey, Subject, entry_of
from broker.scorer.rulings.laying import Laid, adjustments, form_of, lay, of_its_deal, plain, result_of
from broker.scorer.seating import Seatings
from broker.scorer.standings import team_rows
from broker.scorer.tally import Tally
from broker.scorer.teams import TeamRoom
from broker.scorer.visits import Visits
from broker.scoring.bounds import reach_of_teams
from broker.scoring.compare import Group
from broker.scoring.ledger import Ledger
from broker.scoring.plays import APART, Adjustment, ScoredPlay, table_of
from broker.scoring.ranking import Ranking
from broker.store.journal import Kept


class Room:
    """Results, forms and rulings of all plays so far, compared as they come."""

    def __init__(self, event: Event) -> None:
        self._event = event
        self.event = event
        """As corrections of the plan have it; who plays what is as it was. Put in place whole, for any thread."""
        self.results: dict[PlayKey, LogMessage] = {}
        """What the tables have entered; what counts of it is `play`."""
        self.book = Book()
        self.early: set[str] = set()
        """Ids of the desk's rulings that were taken before their play had a result."""
        self._ruled: dict[PlayKey, Laid] = {}
        """Plays on which, or on whose deal, something was ruled."""
        self._tally = Tally(event)
        self._forms: dict[PlayKey, tuple[tuple[int, str], ...]] = {}
        """Of each play the forms that were restored, with the number of the fact."""
        self._later: dict[PlayKey, list[LogMessage]] = {}
        """Results of plays that have one, until it is heard that the table was reopened between the two."""
        self.seatings, self.visits = Seatings(), Visits()
        self.riichi = Sessions(event.session_rules)
        self._ledger = Ledger.of((), event.profile, event.players)
        self._moment: Moment | None = None
        self.teams = TeamRoom(event.plan.teams, event.profile)

    def load(self, messages: Iterable[Kept]) -> None:
        """Add a whole journal: compared once at its end, not after each play."""
        for message in messages:
            self._remember(message)
        self._tally.begin(self.results)
        for entry in self.book.entries.values():  # first those of plays: they may say which deal was played
            self._load_ruled(key for key in self._touched(entry) if entry.play)
        for entry in self.book.entries.values():
            self._load_ruled(self._touched(entry))
        self._ledger = Ledger.of(self.scored(), self._event.profile, self._event.players)
        self._ledger = self._ledger.with_adjustments(self.adjustments())
        self.teams.follow(self._ledger, self._tally.expected, self.complete)

    def apply(self, message: Kept) -> frozenset[int]:
        """Add one accepted message; give the deals whose comparison it may have changed."""
        if isinstance(message, LogMessage) and not isinstance(message.fact, Ruled):
            key = message.table, message.fact.round
            had = {key: self.play(key)} if isinstance(message.fact, Result | Restored) else {}
            self._remember(message)
            return self._follow(had)
        before = self.adjustments()
        had = {key: self.play(key) for key in self._touched(entry_of(message))}
        self._remember(message)
        deals = self._follow(had)
        taken_back = (Adjustment(one.name, -one.imp, -one.fine) for one in before)
        self._ledger = self._ledger.with_adjustments((*taken_back, *self.adjustments()))
        return deals

    def fork(self) -> "Room":
        """Give a room that goes on from here by itself, to try a ruling in."""
        new = Room(self._event)
        new.event = self.event
        new.results, new.book, new._ruled = dict(self.results), self.book.copy(), dict(self._ruled)
        new.early = set(self.early)
        new._tally, new._forms, new._later = self._tally.copy(), dict(self._forms), dict(self._later)
        new.seatings = self.seatings  # rulings change nothing of what was told
        new._ledger, new.teams = self._ledger, self.teams.fork()
        return new

    def under(self, profile: Rules) -> "Room":
        """Give a room in which the same was said and ruled, counted by another profile. Payments stay as they were."""
        new = Room(self._event.under(profile))
        new.event = self.event.under(profile)
        new.results, new.book, new._forms = dict(self.results), self.book.copy(), dict(self._forms)
        new._ruled = {key: new._lay(key) for key in self._ruled}
        return new

    # ---- what was said ----------------------------------------------------------------------

    def _remember(self, message: Kept) -> None:
        if not isinstance(message, LogMessage) or isinstance(message.fact, Ruled):
            entry = entry_of(message)
            entry = replace(entry, back=absences.is_back(self._event, self.event, entry.decision))
            self.book.add(entry)
            self.event = plan.corrected(self._event, self.event, self.book, entry)
            about = self.book.root(entry).play
            if about is not None and about not in self.results and not entry.at_table:
                self.early.add(entry.id)
            if isinstance(message, LogMessage):
                key = message.table, message.fact.round
                for later in self._later.pop(key, []):
                    self._entered(key, later)
            return
        fact = message.fact
        key = message.table, fact.round
        if isinstance(fact, Restored):
            self._forms[key] = (*self._forms.get(key, ()), (message.seq, fact.form))
        elif isinstance(fact, Result):
            self.seatings.remember(message)
            self._entered(key, message)
        else:
            self.seatings.remember(message)
            self.riichi.hear(message)
            self.visits.hear(message)

    def _entered(self, key: PlayKey, message: LogMessage) -> None:
        """Keep a result: of several the first, or the one after the table was reopened, in whatever order they come."""
        if key not in self.results:
            self.results[key] = message
            return
        one, other = sorted((self.results[key], message), key=lambda result: result.seq)
        reopened = any(
            isinstance(entry.decision, Reopen) and entry.at_table and one.seq < entry.number < other.seq
            for entry in self.book.all_of(key)
        )
        if one.id != other.id and not reopened:
            self._later.setdefault(key, []).append(other)
        self.results[key] = other if reopened else one

    # ---- what counts ------------------------------------------------------------------------

    def play(self, key: PlayKey) -> Laid:
        """Give a play as it counts. Raises KeyError where none is planned."""
        return self._ruled.get(key) or self._lay(key, ruled=False)

    def scored(self) -> list[ScoredPlay]:
        """Give all plays of which something counts, as scoring takes them."""
        unruled = [
            plain(message.table, result := result_of(message), self._restored(key, message, result.deal))
            for key, message in self.results.items()
            if key not in self._ruled
        ]
        return unruled + [play for laid in self._ruled.values() if (play := laid.scored())]

    def adjustments(self) -> list[Adjustment]:
        """Give the IMPs that were given or taken beside all plays."""
        return adjustments(self.book.of_the_event(), self._event.profile.awards)

    def _lay(self, key: PlayKey, *, ruled: bool = True) -> Laid:
        return self.laid_by(key, self.book if ruled else None)

    def laid_by(self, key: PlayKey, book: Book | None, *, entered: bool = True) -> Laid:
        """Give a play as it would count with other rulings, or without any. Not `entered`: had it no result yet."""
        result, booking = self.results.get(key) if entered else None, self._event.bookings[key]
        planned = Laid(table=key[0], round=key[1], planned=booking.deal, deal=booking.deal, players=booking.players)
        awards = self._event.profile.awards
        if book and result is None:
            planned = absences.without_gone(planned, book.of(WHO_PLAYS), awards)
        laid = lay(planned, result, book.of(key) if book else (), awards)
        laid = of_its_deal(laid, self.dealer(laid.deal), self._event.profile)
        restored = self._restored(key, result, laid.deal)
        return replace(laid, form=form_of(key[0], restored, book.of(laid.deal)) if book else restored)

    def _restored(self, key: PlayKey, result: LogMessage | None, deal: int) -> str:
        """Give the table's last word on how the tiles lay, before the result: what is said after it changes no IMP.

        It speaks of the planned deal: where another was played, that deal's own form is assumed.
        """
        if deal != self._event.bookings[key].deal:
            return self._event.form(deal)
        forms = self._forms.get(key, ())
        if len(forms) == 1 and (result is None or forms[0][0] < result.seq):
            return forms[0][1]
        told = [one for one in forms if result is None or one[0] < result.seq]
        return max(told)[1] if told else self._event.form(deal)

    def _follow(self, had: Mapping[PlayKey, Laid]) -> frozenset[int]:
        """Lay plays anew, and let counts and ledger follow; give the deals that this may have changed."""
        deals: set[int] = set()
        for key, before in had.items():
            now = self._lay(key)
            if key in self._ruled or now != self._lay(key, ruled=False):
                self._ruled[key] = now
            self._tally.exchange(before, now)
            self._exchange(before.scored(), now.scored())
            deals |= {before.deal, now.deal}
        self.teams.follow(self._ledger, deals, self.complete)
        return frozenset(deals)

    def _load_ruled(self, keys: Iterable[PlayKey]) -> None:
        for key in list(keys):
            before = self.play(key)
            self._ruled[key] = self._lay(key)
            self._tally.exchange(before, self._ruled[key])

    def _exchange(self, had: ScoredPlay | None, now: ScoredPlay | None) -> None:
        if had is not None and (now is None or now.key != had.key):
            self._ledger = self._ledger.without(had)
        if now is not None and now != had:
            self._ledger = self._ledger.with_play(now)

    def _touched(self, entry: Entry) -> list[PlayKey]:
        """Give the plays that a ruling is about."""
        subject = self.book.subject(entry)
        if isinstance(subject, tuple):
            return [subject]
        if isinstance(subject, int):
            return self.plays_with(subject)
        return absences.plays_of(self._event, self.book.root(entry))

    # ---- what is asked ----------------------------------------------------------------------

    @property
    def planned(self) -> Event:
        """The event as it was settled before its first play."""
        return self._event

    @property
    def profile(self) -> Rules:
        """The rules of the event."""
        return self._event.profile

    @property
    def plays_in(self) -> int:
        """How many plays have a result, or a ruling in its place."""
        return self._tally.at_table.total()

    @property
    def final(self) -> bool:
        """Whether every play has its result, or a ruling in its place: from then on nothing is secret."""
        return self.plays_in == len(self._event.plan.plays)

    def is_final(self, now: int) -> bool:
        """Whether the standings are final: no play is missing or counts twice, and the correction period is over."""
        return self.final and self.moment().is_final(now)

    def last_word(self, subject: Subject) -> str | None:
        """Give the id of what was said last on something: a ruling or, of a play, its result."""
        last = self.book.last(subject)
        result = self.results.get(subject) if isinstance(subject, tuple) else None
        entered_since = last and result and isinstance(last.decision, Reopen) and last.number < result.seq
        if last is None or entered_since:
            return result.id if result else None
        return last.id

    def replanned(self, table: int) -> dict[int, int]:
        """Give the rounds of a table in which it is to play another deal than was planned, and which."""
        here = self._ruled_at(table)
        # A table refuses a plan that tells its past otherwise than it was.
        now = {
            round_: result_of(self.results[table, round_]).deal if laid.result else laid.deal
            for round_, laid in here.items()
        }
        return {round_: deal for round_, deal in now.items() if deal != self._event.bookings[table, round_].deal}

    def recorded(self, table: int) -> tuple[int, ...]:
        """Give the rounds of which a table has nothing more to enter."""
        rounds = {round_ for round_ in self._event.rounds_at.get(table, ()) if (table, round_) in self.results}
        ruled = {round_: laid.settled for round_, laid in self._ruled_at(table).items()}
        return tuple(sorted(one for one in rounds | ruled.keys() if ruled.get(one, True)))

    def settled(self, table: int) -> tuple[int, ...]:
        """Give the rounds that the desk has settled before their table played them: it is to leave them out."""
        sources = {round_: laid.source for round_, laid in self._ruled_at(table).items() if laid.settled}
        entries = {round_: self.book.entries.get(source or "") for round_, source in sources.items()}
        ruled = (round_ for round_, entry in entries.items() if entry and not entry.at_table)
        return tuple(sorted(round_ for round_ in ruled if (table, round_) not in self.results))

    def _ruled_at(self, table: int) -> dict[int, Laid]:
        """Give a table's plays that were ruled on, by rounds."""
        rounds = self._event.rounds_at.get(table, ()) if self._ruled else ()
        return {round_: self._ruled[table, round_] for round_ in rounds if (table, round_) in self._ruled}

    def plays_with(self, deal: int) -> list[PlayKey]:
        """Give the plays in which a deal was played, or is to be."""
        ruled = [key for key, laid in self._ruled.items() if laid.deal == deal]
        return ruled + [key for key in self._event.plays_with(deal) if key not in self._ruled]

    def expected(self, deal: int) -> int:
        """How many plays a deal is to have."""
        return self._tally.expected[deal]

    def dealer(self, deal: int) -> Seat:
        """Give who deals in a deal."""
        return self._event.winds(deal)[1]

    def plays_of(self, deal: int) -> int:
        """How many results a deal has."""
        return self._tally.of_deal[deal]

    def plays_at(self, table: int) -> int:
        """How many results a table has."""
        return self._tally.at_table[table]

    def complete(self, deal: int) -> bool:
        """Whether every table has played the deal."""
        return self._tally.complete(deal)

    def known(self) -> list[PlayKey]:
        """Give the plays of which something was said or ruled."""
        return [*self.results, *(key for key in self._ruled if key not in self.results)]

    def out_of_place(self) -> list[Laid]:
        """Give the plays in which another deal was played than planned, or by other players."""
        return [laid for key, laid in self._ruled.items() if out_of_place(self._event, key, laid)]

    def instead(self) -> dict[PlayKey, int]:
        """Give the plays that have a ruling in the place of a result, by when it came, with its time."""
        by_ruling: dict[str | None, list[PlayKey]] = {}
        for key, laid in self._ruled.items():
            if laid.settled and key not in self.results:
                by_ruling.setdefault(laid.source, []).append(key)
        entries = self.book.entries.values() if by_ruling else ()
        return {key: entry.at for entry in entries for key in by_ruling.get(entry.id, ())}

    def key_of(self, play: ScoredPlay) -> PlayKey:
        """Give table and round of a scored play."""
        table = table_of(play)
        if play.table != table:
            return table, play.table // APART
        return table, self._event.rounds[play.deal, table]

    def moment(self) -> Moment:
        """Give all plays as they are now: the same object until a play has changed, with all that was made of it."""
        had = self._moment
        if had is None or had.ledger is not self._ledger or had.event is not self.event:
            had = self._moment = Moment(
                self.event,
                self._ledger,
                MappingProxyType(self.results),
                self._tally.all_complete(),
                tuple(self.adjustments()),
                self.book.deadline,
                {key: (laid, self._kinds(laid)) for key, laid in self._ruled.items()},
                self.instead(),
                self.team_rows(),
                self.teams.lineups,
                tuple(sorted(self.teams.left_out)),
                absences.stand_ins(self.book),
            )
        return had

    def _kinds(self, laid: Laid) -> tuple[str, ...]:
        return tuple(self.book.entries[id_].kind for id_ in laid.rulings)

    def groups(self) -> tuple[Group, ...]:
        """Compare all plays; where a table's restore record is not there yet, the deal's own form is assumed."""
        return self._ledger.groups

    def standings(self) -> Ranking:
        """Rank all players of the event."""
        return self.moment().ranking

    def team_rows(self) -> tuple[TeamStanding, ...]:
        """Give the teams' standings as everybody may read them, with the places that each can still reach."""
        if not self._event.plan.teams:
            return ()
        ranking, to_come = self.team_standings(), len(self._event.expected) - len(self._tally.all_complete())
        return team_rows(ranking, reach_of_teams(ranking, to_come, self._event.profile))

    def team_standings(self) -> Ranking:
        """Rank all teams of the event, by the deals that all of them have played."""
        return self.teams.standings(self.adjustments())
