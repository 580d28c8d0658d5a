"""One ruling as everybody reads it, whether it was given at the desk or at a table; and one that is to be given."""

from msgspec import Struct

from broker.contract.facts import Ruled
from broker.contract.messages import LogMessage, Ruling
from broker.contract.rulings import AnyDecision, kind_of
from broker.contract.words import DealNo, DeskRole, MessageId, Name, Reason, RoundNo, TableNo

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


def of_player(player: str) -> Subject:
    """Give what corrections of a player are about."""
    return f"player {player}"


class Author(Struct, frozen=True):
    """Who rules."""

    name: Name
    account: str
    role: DeskRole


class Draft(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A ruling that somebody is about to give. Its id is made with the form: sent twice it is given once."""

    id: MessageId
    after: MessageId | None
    table: TableNo | None = None
    round: RoundNo | None = None
    deal: DealNo | None = None
    decision: AnyDecision
    reason: Reason


class Entry(Struct, frozen=True, kw_only=True):
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
        return kind_of(self.decision)

    @property
    def play(self) -> PlayKey | None:
        """The play that it is about, if it is about one."""
        return (self.table, self.round) if self.table is not None and self.round is not None else None


def entry_of(message: Ruling | LogMessage) -> Entry:
    """Give the ruling in a message. Raises TypeError for a fact that is none."""
    if isinstance(message, Ruling):
        return Entry(
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
    return Entry(
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
