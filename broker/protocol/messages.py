"""All messages, one struct each, and how far a table's clock is off according to them.

Programs of two versions may work in one hall: a reader skips fields that it does not know and checks the others. A
change that an older reader must not skip gets another `schema` number, or a new kind of fact. Incoming messages are
decoded only by `decode` (topics.py).
"""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from broker.protocol.facts import Fact, NewerFact
from broker.protocol.rulings import AnyDecision
from broker.protocol.types import (
    HOST_PATTERN,
    LONGEST_PROFILE,
    Anchor,
    Code,
    Count,
    DealNo,
    DeskRole,
    DeviceId,
    EventName,
    Hash,
    Imp,
    Lifecycle,
    MachineName,
    MessageId,
    Milliseconds,
    Name,
    NextSeat,
    PinMark,
    PlannedPlay,
    PlannedSession,
    PlayerId,
    PlayMinutes,
    ProfileId,
    PublicAddress,
    PublicKey,
    PublicState,
    Reason,
    RoundNo,
    SealedPin,
    Seat,
    Seq,
    SessionId,
    SessionNonce,
    Signature,
    StoreId,
    TableNo,
    Text,
)

SCHEMA: Literal[1] = 1

MOST_ORDERS_KEPT: Final = 16
"""Orders whose ids a table remembers, so that a desk never mistakes another desk's order for its own."""


class Message(Struct, frozen=True, kw_only=True):
    """The fields of every message."""

    schema: Literal[1] = SCHEMA
    id: MessageId
    event: EventName


# ---- from a table -------------------------------------------------------------------------------


Version = Annotated[str, Meta(pattern=r"^[0-9A-Za-z.+!-]{0,32}$(?!\n)")]
"""Version of the sending program (PEP 440); empty where it is not installed as a package."""


class LogMessage(Message, frozen=True, kw_only=True):
    """One accepted fact of one table."""

    table: TableNo
    seq: Seq
    at: Annotated[Milliseconds, Meta(description="wall clock of the table, for people; order comes from seq")]
    fact: Fact
    device: Annotated[DeviceId | None, Meta(description="the device that created and signed it")] = None
    before: Annotated[
        Hash | None, Meta(description="of this table's previous fact (signing.py); null: none, or unknown")
    ] = None
    signature: Annotated[Signature | None, Meta(description="by the device, over everything before it")] = None
    sender: Annotated[DeviceId | None, Meta(description="the device that sends it; neither signed nor stored")] = None


class NewerLogMessage(LogMessage, frozen=True, kw_only=True):
    """A fact of a kind that this program does not know."""

    fact: NewerFact  # type: ignore[assignment] # deliberately a type outside the union


UpgradeStep = Literal["fetching", "ready", "trial", "done", "refused", "returned"]


class UpgradeState(Struct, frozen=True, kw_only=True):
    """A table's progress with the version that it is offered."""

    version: Version
    step: UpgradeStep
    percent: Annotated[int, Meta(ge=0, le=100, description="fetched so far, in steps of ten")] = 100
    code: Annotated[Code | None, Meta(description="why it cannot continue")] = None


class TableState(Message, frozen=True, kw_only=True):
    """The state of a table and its device."""

    table: TableNo
    seq: Annotated[Count, Meta(description="last fact accepted at the table")]
    device: DeviceId
    key: Annotated[PublicKey | None, Meta(description="from which `device` is derived; null: an older program")] = None
    start: Annotated[Count, Meta(description="how often the device's program has been started")]
    count: Annotated[Count, Meta(description="number of the state since this start; an older state may arrive later")]
    lifecycle: Lifecycle
    state: PublicState
    round: RoundNo | None
    deal: DealNo | None
    unsent: Annotated[Count, Meta(description="facts without a receipt so far")]
    calling: bool
    paused: bool = False
    ordered: Annotated[Count, Meta(description="seq of the last order that was carried out or refused; 0: none")] = 0
    obeyed: Annotated[
        dict[Seq, MessageId],
        Meta(max_length=MOST_ORDERS_KEPT, description="the last orders carried out or refused: their ids by seq"),
    ] = {}
    refused: Annotated[
        dict[Seq, Code],
        Meta(max_length=MOST_ORDERS_KEPT, description="why some of them were refused: the codes by seq"),
    ] = {}
    at: Annotated[Milliseconds | None, Meta(description="wall clock of the table; null: unknown")] = None
    heard: Annotated[
        Milliseconds | None, Meta(description="`at` of the last receipt received since its program was started")
    ] = None
    pin: Annotated[
        PinMark | None,
        Meta(description="identifies the table's version of the arbiters' PIN; null: none, or an older program"),
    ] = None
    minutes: Annotated[
        PlayMinutes | None,
        Meta(description="time for the present play in the table's plan; null: no limit"),
    ] = None
    extra_min: Annotated[int, Meta(ge=0, le=9999, description="added to the present play, by desk and table")] = 0
    stood_ms: Annotated[
        Count | None,
        Meta(description="total length of the present play's past pauses; null: unknown"),
    ] = None
    played_ms: Annotated[
        Count | None,
        Meta(description="in a pause: time played before it, without earlier pauses; null: not paused, or unknown"),
    ] = None
    arbiter: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        Meta(description="the arbiter who may rule there; empty: by PIN; null: nobody"),
    ] = None
    health: Annotated[
        dict[Annotated[str, Meta(max_length=64)], Text],
        Meta(max_length=16, description="faults by device; empty: none"),
    ]
    version: Annotated[Version | None, Meta(description="of the table's program; null: an older one")] = None
    upgrade: Annotated[UpgradeState | None, Meta(description="null: no other version is offered")] = None
    store: Annotated[
        StoreId | None, Meta(description="the scorer's store that issued the table's receipts; null: none")
    ] = None
    safe: Annotated[
        Count, Meta(description="`upto` of those receipts: if the same store has fewer facts, it has lost some")
    ] = 0


class PinGiven(Message, frozen=True, kw_only=True):
    """A PIN typed at a table, for the scorer to check. If no answer comes soon the table goes on provisionally."""

    table: TableNo
    device: DeviceId
    session: Annotated[SessionNonce, Meta(description="drawn at random by the table for this PIN")]
    sealed: SealedPin
    signature: Annotated[Signature | None, Meta(description="by the device, over everything before it")] = None


BEAT_S: Final = 10
"""Longest time between two signs of life of a table, and of the scorer, in s."""

SILENT_S: Final = 3 * BEAT_S
"""Silence, in s, after which people are notified. Measured with monotonic clocks, never wall clocks."""


DISK_STEP_MIB: Final = 64
"""Step in which free disk space is reported: coarse enough that storing one play does not change it."""


class Beat(Message, frozen=True, kw_only=True):
    """A sign of life of a table's program. Never queued, as an old one would mean nothing."""

    table: TableNo
    device: DeviceId
    start: Annotated[Count, Meta(description="how often the device's program has been started")]
    at: Annotated[Milliseconds | None, Meta(description="wall clock of the table; null: unknown")] = None
    disk_mib: Annotated[
        Count | None, Meta(description=f"free space on its disk, in steps of {DISK_STEP_MIB} MiB; null: unknown")
    ] = None
    celsius: Annotated[
        Annotated[int, Meta(ge=-99, le=199)] | None, Meta(description="of its hottest part; null: unknown")
    ] = None


# ---- from the scorer ----------------------------------------------------------------------------


class FromScorer(Message, frozen=True, kw_only=True):
    """The fields of every message from the scorer."""

    seq: Annotated[Count, Meta(description="height of the scorer's journal when this was sent")]


class ToTable(FromScorer, frozen=True, kw_only=True):
    """The fields of the scorer's messages to tables. `seq` hides the journal's height, which would reveal too much."""

    seq: Annotated[
        Count, Meta(description="grows with each message to this table or to all since the scorer was started")
    ]


ScorerTerm = Annotated[Count, Meta(description="of the scorer: orders messages, together with `seq`; 0: unknown")]

BrokerPlace = Annotated[str, Meta(pattern=rf"^(?:(?:{HOST_PATTERN}|\[[0-9A-Fa-f:]{{2,45}}\]):[0-9]{{1,5}})?$(?!\n)")]
"""HOST:PORT of a broker; empty: none."""


class ScorerState(ToTable, frozen=True, kw_only=True):
    """Sent by the active scorer every BEAT_S seconds; its last will reports `gone`."""

    run: Annotated[MessageId, Meta(description="a new one at each start of the program")]
    term: Annotated[
        Count, Meta(description="grows with each start; of two scorers the one with the higher term stays active")
    ]
    answers: Annotated[
        MessageId | None, Meta(description="the run of another scorer to whose question this is the answer")
    ] = None
    store: StoreId
    lifecycle: Literal["active", "gone"]
    version: Version
    standby: Annotated[BrokerPlace, Meta(description="where tables connect if they lose this broker")] = ""
    moved: Annotated[BrokerPlace, Meta(description="the scorer's new broker, to which tables move")] = ""


class ScorerAsked(Message, frozen=True, kw_only=True):
    """A scorer asks whether another one is active. An active one answers with its state."""

    run: Annotated[MessageId, Meta(description="the asking scorer's")]
    term: Annotated[int, Meta(ge=0, description="the latest term in its store")] = 0
    starts: Annotated[
        bool, Meta(description="whether it becomes active if none answers; otherwise it is active already, or follows")
    ] = True


class Refusal(Struct, frozen=True, kw_only=True):
    """A fact that the scorer refused, and why."""

    seq: Seq
    id: MessageId
    code: Code


class Taken(Struct, frozen=True, kw_only=True):
    """A fact that is in the scorer's store."""

    seq: Seq
    id: MessageId


class AtCentre(Struct, frozen=True, kw_only=True):
    """Which of a table's facts are also in the centre's store: all up to `upto` except those in `lacks`."""

    upto: Count
    lacks: Annotated[tuple[Seq, ...], Meta(max_length=100, description="facts that the centre has refused")] = ()


class Receipt(ToTable, frozen=True, kw_only=True):
    """Which of a table's facts are in the scorer's store: all up to `upto` except the `gaps`, and none beyond.

    `taken` names the last ones by id, so that a device never mistakes another device's fact of the same number for its
    own.
    """

    table: TableNo
    at: Annotated[Milliseconds | None, Meta(description="wall clock of the scorer; null: unknown")] = None
    store: StoreId
    upto: Count
    gaps: Annotated[tuple[Seq, ...], Meta(max_length=1000)]
    taken: Annotated[tuple[Taken, ...], Meta(max_length=100)]
    refused: Annotated[tuple[Refusal, ...], Meta(max_length=100)]
    head: Annotated[Hash | None, Meta(description="of the fact `upto`: the head of the scorer's chain")] = None
    wanted: Annotated[
        tuple[Seq, ...], Meta(max_length=100, description="facts that the scorer has lost and requests again")
    ] = ()
    anchor: Annotated[
        Anchor | None,
        Meta(description="proves later what was stored when this was sent (docs/store.md); null: unknown"),
    ] = None
    version: Annotated[Version | None, Meta(description="of the scorer's program; null: an older one")] = None
    centre: Annotated[AtCentre | None, Meta(description="in a hall; null: no centre is known")] = None
    signature: Annotated[Signature | None, Meta(description="by the event's key, over everything before it")] = None


class Assignment(ToTable, frozen=True, kw_only=True):
    """All plays of one table, so that it can go on offline."""

    table: TableNo
    store: StoreId
    profile: ProfileId
    rules: (
        Annotated[
            str,
            Meta(
                max_length=LONGEST_PROFILE, description="the profile's TOML text, if it is not one of the program's own"
            ),
        ]
        | None
    ) = None
    plays: Annotated[tuple[PlannedPlay, ...], Meta(max_length=200)]
    session: Annotated[PlannedSession | None, Meta(description="if set, the table plays riichi under this profile")] = (
        None
    )
    recorded: Annotated[tuple[RoundNo, ...], Meta(max_length=200, description="rounds whose result is stored")]
    repeats: Annotated[
        dict[RoundNo, Annotated[tuple[PlayerId, ...], Meta(max_length=4)]],
        Meta(max_length=200, description="for rounds to come: players who have already played the deal at some table"),
    ] = {}
    settled: Annotated[
        tuple[RoundNo, ...],
        Meta(max_length=200, description="recorded rounds that arbiters have settled before they were played"),
    ] = ()
    minutes: Annotated[
        dict[RoundNo, PlayMinutes],
        Meta(max_length=200, description="time for the play of a round, from its confirmation; others have no limit"),
    ] = {}
    onward: Annotated[
        dict[RoundNo, Annotated[dict[PlayerId, NextSeat | None], Meta(max_length=4)]],
        Meta(max_length=200, description="by round after which players move: their next seats; null: no play is left"),
    ] = {}
    public_address: PublicAddress = ""
    keep_plays: Annotated[bool, Meta(description="whether the table offers to read the rivers after a play")] = False


class UpgradeOffer(Struct, frozen=True, kw_only=True):
    """Another version of the program that a table may fetch from the desk. Its manifest is signed."""

    version: Version
    manifest: Hash
    host: Annotated[
        Annotated[str, Meta(pattern=f"^(?:{HOST_PATTERN})$(?!\\n)")] | None,
        Meta(description="the desk's host; null: the broker's"),
    ] = None
    port: Annotated[int, Meta(ge=1, le=65535)]
    install: Annotated[bool, Meta(description="whether an arbiter has released it for installation")] = False


class Served(ToTable, frozen=True, kw_only=True):
    """The scorer's view of a table: which device serves it, and the progress of its call."""

    table: TableNo
    device: Annotated[DeviceId | None, Meta(description="the one whose facts are accepted; null: none so far")]
    refused: Annotated[DeviceId | None, Meta(description="the last other one that was refused")] = None
    unknown: Annotated[
        DeviceId | None, Meta(description="the last one that sent something without having been admitted here")
    ] = None
    calls_before: Annotated[
        Count | None, Meta(description="open calls that are older than its own; null: it has none")
    ] = None
    arbiter_coming: Annotated[bool, Meta(description="whether an arbiter is coming to its call; not who")] = False
    upgrade: Annotated[UpgradeOffer | None, Meta(description="null: none is offered")] = None
    unseen: Annotated[
        bool, Meta(description="its device is connected but its state is unknown: it must publish it again")
    ] = False
    term: ScorerTerm = 0


class PinAnswer(Struct, frozen=True, kw_only=True):
    """The result of checking a PIN."""

    asked: Annotated[SessionNonce, Meta(description="of the PIN in question")]
    session: Annotated[SessionId | None, Meta(description="the session that it opens; null: none")] = None
    code: Annotated[Code | None, Meta(description="the reason if there is none: `pin_wrong`, `pin_locked`")] = None


class ArbiterPin(ToTable, frozen=True, kw_only=True):
    """How a table has a PIN checked: the key to which it is sealed, and the result for the last PIN."""

    table: TableNo
    key: Annotated[PublicKey, Meta(description="of the event, X25519")]
    mark: Annotated[PinMark | None, Meta(description="identifies the version of the PIN; null: there is none")]
    answer: PinAnswer | None = None
    term: ScorerTerm = 0
    signature: Annotated[Signature | None, Meta(description="by the event's key, over everything before it")] = None


class ComparedSeat(Struct, frozen=True, kw_only=True):
    """One player's line in a traveller."""

    player: PlayerId
    points: int
    imp: Imp | None
    fine: int


class ComparedPlay(Struct, frozen=True, kw_only=True):
    """One play of a deal, to be compared with the others."""

    table: TableNo
    round: RoundNo
    form: Hash | None
    seats: dict[Seat, ComparedSeat]


class Traveller(FromScorer, frozen=True, kw_only=True):
    """All plays of a deal side by side."""

    deal: DealNo
    complete: bool
    expected: Count
    plays: tuple[ComparedPlay, ...]


PublicNumber = Annotated[Count, Meta(description="grows with each public message since the scorer was started")]


class PublicTraveller(Traveller, frozen=True, kw_only=True):
    """A traveller for everybody, published once all tables have played the deal."""

    seq: PublicNumber


MOST_STORED_RECORDS: Final = 200
"""Most records that a table stores for the scorer at a time."""


class KeptRecord(Struct, frozen=True, kw_only=True):
    """One of the scorer's records, stored by a table. Only the scorer can decrypt and authenticate it."""

    id: MessageId
    sealed: Annotated[str, Meta(max_length=65_536, pattern=r"^[A-Za-z0-9+/=]*$(?!\n)", description="in base64")]


KeptRecords = Annotated[tuple[KeptRecord, ...], Meta(max_length=MOST_STORED_RECORDS)]


class Kept(ToTable, frozen=True, kw_only=True):
    """Rulings and similar records that a table stores for the scorer. It gives any others back (`KeptBack`)."""

    table: TableNo
    records: KeptRecords


class KeptBack(Message, frozen=True, kw_only=True):
    """Records stored by a table that the scorer has not named: its store is an older copy, or has lost rows."""

    table: TableNo
    records: KeptRecords


class Standing(Struct, frozen=True, kw_only=True):
    """One player's line in the standings."""

    place: Annotated[int, Meta(ge=1)]
    player: PlayerId
    name: Name
    imp: Imp
    fines: int
    plays: Count
    stage: Annotated[str, Meta(description="of this place; empty: the event has one stage")] = ""
    section: str = ""


class TeamStanding(Struct, frozen=True, kw_only=True):
    """One team's line in the standings."""

    place: Annotated[int, Meta(ge=1)]
    team: Name
    imp: Imp
    fines: int
    deals: Count
    best: Annotated[int | None, Meta(description="the best place that it can still reach; null: unknown")] = None
    worst: Annotated[int | None, Meta(description="the worst place that it can still reach")] = None
    likely: Annotated[tuple[int, int] | None, Meta(description="likely range of its final place; null: unknown")] = None
    stage: str = ""
    section: str = ""


class Standings(FromScorer, frozen=True, kw_only=True):
    """The current standings; `seq` is their version."""

    final: bool
    plays_in: Count
    plays_expected: Count
    rows: tuple[Standing, ...]
    teams: tuple[TeamStanding, ...] = ()


class PublicStandings(Standings, frozen=True, kw_only=True):
    """Standings for everybody, over the deals that all their tables have played."""

    seq: PublicNumber


class Ruling(Message, frozen=True, kw_only=True):
    """An arbiter's ruling from the desk, as stored by the scorer. It never erases anything: see rulings.py.

    `table`, `round` and `deal` identify the play; a deal alone means all plays of it, none of them the whole event.
    """

    number: Annotated[Seq, Meta(description="order of the desk's rulings, without gaps")]
    after: Annotated[
        MessageId | None,
        Meta(description="the latest result or ruling on this that its author had seen; null: none"),
    ]
    table: TableNo | None = None
    round: RoundNo | None = None
    deal: DealNo | None = None
    decision: AnyDecision
    author: Name
    account: Annotated[str, Meta(max_length=64, description="login name of the author")]
    role: DeskRole
    reason: Reason
    at: Milliseconds


class DeviceAdmitted(Message, frozen=True, kw_only=True, tag_field="kind", tag="device_admitted"):
    """From now on a device may report for a table."""

    number: Annotated[Seq, Meta(description="order of the decisions about devices, without gaps")]
    table: TableNo
    device: DeviceId
    key: Annotated[PublicKey | None, Meta(description="null: it cannot sign, and is accepted nevertheless")]
    machine: MachineName = ""
    author: Annotated[Name | None, Meta(description="null: it was paired, or listed by the organiser")] = None
    account: Annotated[str, Meta(max_length=64, description="login name of the author")] = ""
    at: Milliseconds


class DeviceRevoked(Message, frozen=True, kw_only=True, tag_field="kind", tag="device_revoked"):
    """A device may no longer report for its table. Facts that were accepted from it stay."""

    number: Seq
    table: TableNo
    device: DeviceId
    author: Name
    account: Annotated[str, Meta(max_length=64, description="login name of the author")]
    reason: Reason
    at: Milliseconds


DeviceRecord = DeviceAdmitted | DeviceRevoked
"""A decision about a table's devices."""


class Alert(FromScorer, frozen=True, kw_only=True):
    """Something that an arbiter must know."""

    code: Code
    table: TableNo | None
    topic: Annotated[str, Meta(max_length=200)] | None
    text: Text
    at: Milliseconds


# ---- from the desk ------------------------------------------------------------------------------


Command = Literal["clear_call", "pause", "resume", "extra_time", "reopen", "admit", "quiet_light", "normal_light"]


class Order(Message, frozen=True, kw_only=True):
    """An order from the arbiter to a table. The reason stays at the desk, as tables receive no free text.

    An order is obsolete and ignored unless its `seq` is above that of the last order carried out or refused.
    """

    table: TableNo
    seq: Annotated[Seq, Meta(description="grows with every order of the desk, with gaps")]
    command: Command
    minutes: Annotated[int, Meta(ge=0, le=60, description="of extra time; 0 with other commands")] = 0
    author: Name
    session: Annotated[
        SessionId | None, Meta(description="carried by the facts that follow from it; null: an older desk")
    ] = None


CLOCK_TOLERANCE_MS: Final = 120_000


def clock_is_behind(at: int, received: int | None) -> bool:
    """Return whether a clock that shows `at` is far behind the scorer's time `received` before. In ms since 1970."""
    return received is not None and received - at > CLOCK_TOLERANCE_MS


def clock_offset(state: TableState, now: int) -> int | None:
    """Return how far a table's clock is ahead (below 0: behind), in ms; 0 within the tolerance, None if unknown."""
    if state.at is None:
        return None
    if state.at - now > CLOCK_TOLERANCE_MS:
        return state.at - now
    if state.heard is None:
        return None
    return state.at - state.heard if clock_is_behind(state.at, state.heard) else 0
