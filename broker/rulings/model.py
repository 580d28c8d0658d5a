"""Rulings as everybody reads them, from the desk or a table: the draft of one, one that was given, the book of all."""

from collections import defaultdict
from collections.abc import Iterator

from msgspec import Struct

from broker.protocol import (
    AnyDecision,
    Award,
    Deadline,
    DealNo,
    DeskRole,
    FineRuled,
    Fouled,
    LogMessage,
    MessageId,
    Name,
    PlayerCorrected,
    Reason,
    RoundNo,
    Ruled,
    Ruling,
    SessionsCorrected,
    Substitute,
    TableNo,
    TitleCorrected,
    Undo,
    Withdrawn,
    decision_kind,
)

PlayKey = tuple[int, int]
"""Table and round."""

Subject = PlayKey | int | str
"""What rulings are about, and what two arbiters may not rule on at once: a play, a deal, or a word for the event."""

DEADLINE = "deadline"

WHO_PLAYS = "who_plays"
"""Who is gone, and who sits there instead: of the event, since what is ruled last of a round holds."""

TITLE = "the title"
SESSIONS = "the sessions"
"""With a space, as no id has one."""


def player_subject(player: str) -> Subject:
    """Return what corrections of a player are about."""
    return f"player {player}"


class RulingAuthor(Struct, frozen=True):
    """Who rules."""

    name: Name
    account: str
    role: DeskRole


class RulingDraft(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A ruling that somebody is about to give. Its id is made with the form: sent twice it is given once."""

    id: MessageId
    after: MessageId | None
    table: TableNo | None = None
    round: RoundNo | None = None
    deal: DealNo | None = None
    decision: AnyDecision
    reason: Reason


class RulingEntry(Struct, frozen=True, kw_only=True):
    """One ruling that was given."""

    id: str
    at: int
    """Wall clock of the desk or the table, ms since 1970 (UTC)."""
    author: str
    account: str
    """Login name; empty for one given at a table."""
    role: DeskRole
    reason: str
    decision: AnyDecision
    number: int
    """Of the desk's rulings, or the table's fact."""
    at_table: bool = False
    table: int | None = None
    round: int | None = None
    deal: int | None = None
    back: bool = False
    """Whether it names who is gone by the own name, as it was when it was taken: the player sits there again."""

    @property
    def kind(self) -> str:
        """The word for what was decided."""
        return decision_kind(self.decision)

    @property
    def play(self) -> PlayKey | None:
        """The play that it is about, if it is about one."""
        return (self.table, self.round) if self.table is not None and self.round is not None else None


def entry_of(message: Ruling | LogMessage) -> RulingEntry:
    """Return the ruling in a message. Raises TypeError for a fact that is none."""
    if isinstance(message, Ruling):
        return RulingEntry(
            id=message.id,
            at=message.at,
            author=message.author,
            account=message.account,
            role=message.role,
            reason=message.reason,
            decision=message.decision,
            number=message.number,
            table=message.table,
            round=message.round,
            deal=message.deal,
        )
    fact = message.fact
    if not isinstance(fact, Ruled):
        raise TypeError(f"not a ruling: {message.id}")
    return RulingEntry(
        id=message.id,
        at=message.at,
        author=fact.author,
        account="",
        role=fact.role,
        reason=fact.reason,
        decision=fact.decision,
        number=message.seq,
        at_table=True,
        table=message.table,
        round=fact.round,
        deal=fact.deal,
    )


def event_subject(decision: AnyDecision) -> Subject | None:
    """Return what a decision of the event as a whole is about; None where it is none, or stands for itself."""
    match decision:
        case Deadline():
            return DEADLINE
        case Substitute() | Withdrawn():
            return WHO_PLAYS
        case TitleCorrected():
            return TITLE
        case SessionsCorrected():
            return SESSIONS
        case PlayerCorrected():
            return player_subject(decision.player)
    return None


class RulingBook:
    """Grows only. A ruling counts unless a ruling that counts has taken it back."""

    def __init__(self) -> None:
        self.entries: dict[str, RulingEntry] = {}
        self._about: defaultdict[Subject, list[RulingEntry]] = defaultdict(list)
        self._undone: set[str] = set()

    def copy(self) -> "RulingBook":
        """Return another that begins with the same rulings."""
        new = RulingBook()
        new.entries, new._undone = dict(self.entries), set(self._undone)
        new._about.update({subject: list(entries) for subject, entries in self._about.items()})
        return new

    def add(self, entry: RulingEntry) -> None:
        """Take one ruling in; one that is there already changes nothing."""
        if entry.id in self.entries:
            return
        undone = entry.decision.ruling if isinstance(entry.decision, Undo) else None
        known = undone in self.entries  # what is not there before cannot be taken back: there are no circles
        self.entries[entry.id] = entry
        self._about[self.subject(entry) if known or undone is None else entry.id].append(entry)
        if undone is not None and known:
            self._turn(undone)

    def _turn(self, id_: str) -> None:
        """Let a ruling count no longer, or again; what it took back itself turns the other way, and so on down."""
        at: str | None = id_
        while at is not None:
            self._undone ^= {at}
            taken = self.entries.get(at)
            at = taken.decision.ruling if taken and isinstance(taken.decision, Undo) else None

    def counts(self, id_: str) -> bool:
        """Return whether a ruling is in force."""
        return id_ in self.entries and id_ not in self._undone

    def root(self, entry: RulingEntry) -> RulingEntry:
        """Return what an undo, or an undo of an undo, is about in the end; else the ruling itself."""
        seen = {entry.id}
        while isinstance(entry.decision, Undo) and entry.decision.ruling in self.entries.keys() - seen:
            entry = self.entries[entry.decision.ruling]
            seen.add(entry.id)
        return entry

    def subject(self, entry: RulingEntry) -> Subject:
        """Return what a ruling is about."""
        root = self.root(entry)
        if root.play is not None:
            return root.play
        if isinstance(root.decision, Fouled) and root.deal is not None:
            return root.deal
        return event_subject(root.decision) or root.id  # IMPs of the event: each stands for itself

    def last(self, subject: Subject) -> RulingEntry | None:
        """Return the last word on something, whether it counts or not."""
        return self._about[subject][-1] if self._about.get(subject) else None

    def of(self, subject: Subject) -> list[RulingEntry]:
        """Return the rulings on something that count, oldest first; an undo is not among them."""
        about = self._about.get(subject, [])
        return [one for one in about if self.counts(one.id) and not isinstance(one.decision, Undo)]

    def all_of(self, subject: Subject) -> list[RulingEntry]:
        """Return everything that was ruled on something, oldest first."""
        return list(self._about.get(subject, []))

    def plays(self) -> Iterator[PlayKey]:
        """Return the plays that something was ruled on."""
        return (subject for subject in self._about if isinstance(subject, tuple))

    def of_the_event(self) -> Iterator[RulingEntry]:
        """Return the awards and fines that count and belong to no play."""
        for entry in self.entries.values():
            if entry.play is None and isinstance(entry.decision, Award | FineRuled) and self.counts(entry.id):
                yield entry

    @property
    def deadline(self) -> int | None:
        """When the correction period ends (ms since 1970), if it was set."""
        entries = self.of(DEADLINE)
        last = entries[-1].decision if entries else None
        return last.at if isinstance(last, Deadline) else None
