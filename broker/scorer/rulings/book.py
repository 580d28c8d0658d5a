"""All rulings of an event, in the order in which they were taken, and which of them count."""

from collections import defaultdict
from collections.abc import Iterator

from broker.contract.rulings import (
    AnyDecision,
    Award,
    Deadline,
    FineRuled,
    Fouled,
    PlayerCorrected,
    SessionsCorrected,
    Substitute,
    TitleCorrected,
    Undo,
    Withdrawn,
)
from broker.scorer.rulings.entry import DEADLINE, SESSIONS, TITLE, WHO_PLAYS, Entry, PlayKey, Subject, of_player


def about_the_event(decision: AnyDecision) -> Subject | None:
    """Give what a decision of the event as a whole is about; None where it is none, or stands for itself."""
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
            return of_player(decision.player)
    return None


class Book:
    """Grows only. A ruling counts unless a ruling that counts has taken it back."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self._about: defaultdict[Subject, list[Entry]] = defaultdict(list)
        self._undone: set[str] = set()

    def copy(self) -> "Book":
        """Give another that begins with the same rulings."""
        new = Book()
        new.entries, new._undone = dict(self.entries), set(self._undone)
        new._about.update({subject: list(entries) for subject, entries in self._about.items()})
        return new

    def add(self, entry: Entry) -> None:
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
        """Say whether a ruling is in force."""
        return id_ in self.entries and id_ not in self._undone

    def root(self, entry: Entry) -> Entry:
        """Give what an undo, or an undo of an undo, is about in the end; else the ruling itself."""
        seen = {entry.id}
        while isinstance(entry.decision, Undo) and entry.decision.ruling in self.entries.keys() - seen:
            entry = self.entries[entry.decision.ruling]
            seen.add(entry.id)
        return entry

    def subject(self, entry: Entry) -> Subject:
        """Give what a ruling is about."""
        root = self.root(entry)
        if root.play is not None:
            return root.play
        if isinstance(root.decision, Fouled) and root.deal is not None:
            return root.deal
        return about_the_event(root.decision) or root.id  # IMPs of the event: each stands for itself

    def last(self, subject: Subject) -> Entry | None:
        """Give the last word on something, whether it counts or not."""
        return self._about[subject][-1] if self._about.get(subject) else None

    def of(self, subject: Subject) -> list[Entry]:
        """Give the rulings on something that count, oldest first; an undo is not among them."""
        about = self._about.get(subject, [])
        return [one for one in about if self.counts(one.id) and not isinstance(one.decision, Undo)]

    def all_of(self, subject: Subject) -> list[Entry]:
        """Give everything that was ruled on something, oldest first."""
        return list(self._about.get(subject, []))

    def plays(self) -> Iterator[PlayKey]:
        """Give the plays that something was ruled on."""
        return (subject for subject in self._about if isinstance(subject, tuple))

    def of_the_event(self) -> Iterator[Entry]:
        """Give the awards and fines that count and belong to no play."""
        for entry in self.entries.values():
            if entry.play is None and isinstance(entry.decision, Award | FineRuled) and self.counts(entry.id):
                yield entry

    @property
    def deadline(self) -> int | None:
        """When the correction period ends (ms since 1970), if it was said."""
        said = self.of(DEADLINE)
        last = said[-1].decision if said else None
        return last.at if isinstance(last, Deadline) else None
