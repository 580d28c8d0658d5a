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
    device: Annotated[DeviceId | None, Meta(description="which device has made it, and signed it")] = None
    before: Annotated[
        Hash | None, Meta(description="of this table's fact before it (signing.py); null: its first, or not known")
    ] = None
    signature: Annotated[Signature | None, Meta(description="of the device, over all that stands before it")] = None
    sender: Annotated[DeviceId | None, Meta(description="which device sends it; neither signed nor kept")] = None


class NewerLogMessage(LogMessage, frozen=True, kw_only=True):
    """A fact of a kind that this program does not know."""

    fact: NewerFact  # type: ignore[assignment] # deliberately a type outside the union


UpgradeStep = Literal["fetching", "ready", "trial", "done", "refused", "returned"]


class UpgradeState(Struct, frozen=True, kw_only=True):
    """A table's progress with the version that it is offered."""

    version: Version
    step: UpgradeStep
    percent: Annotated[int, Meta(ge=0, le=100, description="of what is to be fetched, in tens")] = 100
    code: Annotated[Code | None, Meta(description="what keeps it from going on")] = None


class TableState(Message, frozen=True, kw_only=True):
    """The state of a table and its device."""

    table: TableNo
    seq: Annotated[Count, Meta(description="last fact accepted at the table")]
    device: DeviceId
    key: Annotated[PublicKey | None, Meta(description="of which `device` is made; null: an older program")] = None
    start: Annotated[Count, Meta(description="how often the device's program has been started")]
    count: Annotated[Count, Meta(description="of this start's states; an older state may arrive later")]
    lifecycle: Lifecycle
    state: PublicState
    round: RoundNo | None
    deal: DealNo | None
    unsent: Annotated[Count, Meta(description="facts for which no receipt has come")]
    calling: bool
    paused: bool = False
    ordered: Annotated[Count, Meta(description="seq of the last order that was carried out or refused; 0: none")] = 0
    obeyed: Annotated[
        dict[Seq, MessageId],
        Meta(max_length=MOST_ORDERS_KEPT, description="the last orders carried out or refused: their ids by seq"),
    ] = {}
    refused: Annotated[
        dict[Seq, Code],
        Meta(max_length=MOST_ORDERS_KEPT, description="which of them were refused: the code of why, by seq"),
    ] = {}
    at: Annotated[Milliseconds | None, Meta(description="wall clock of the table; null: not told")] = None
    heard: Annotated[
        Milliseconds | None, Meta(description="`at` of the last receipt that it heard since its program was started")
    ] = None
    pin: Annotated[
        PinMark | None,
        Meta(description="tells which setting of the arbiters' PIN the table has; null: none, or an older program"),
    ] = None
    minutes: Annotated[
        PlayMinutes | None,
        Meta(description="of the present play, by the plan that the table goes by; null: it has no limit"),
    ] = None
    extra_min: Annotated[int, Meta(ge=0, le=9999, description="added to the present play, by desk and table")] = 0
    stood_ms: Annotated[
        Count | None,
        Meta(description="how long the present play stood still in pauses that are over; null: its time is not known"),
    ] = None
    played_ms: Annotated[
        Count | None,
        Meta(description="in a pause: how long the present play had gone on when it began, without pauses before it"),
    ] = None
    arbiter: Annotated[
        Annotated[str, Meta(max_length=100)] | None,
        Meta(description="who is let in to rule there; empty: by PIN; null: nobody"),
    ] = None
    health: Annotated[
        dict[Annotated[str, Meta(max_length=64)], Text],
        Meta(max_length=16, description="what is wrong, by device; empty: all well"),
    ]
    version: Annotated[Version | None, Meta(description="of the table's program; null: one that does not say it")] = (
        None
    )
    upgrade: Annotated[UpgradeState | None, Meta(description="null: no other version is offered")] = None
    store: Annotated[
        StoreId | None, Meta(description="the scorer's store of the receipts that the table has; null: it has none")
    ] = None
    safe: Annotated[
        Count, Meta(description="`upto` of those receipts: a store with the same id that has less has shrunk")
    ] = 0


class PinGiven(Message, frozen=True, kw_only=True):
    """A PIN typed at a table, for the scorer to check. If no answer comes soon the table goes on provisionally."""

    table: TableNo
    device: DeviceId
    session: Annotated[SessionNonce, Meta(description="drawn by the table for this PIN")]
    sealed: SealedPin
    signature: Annotated[Signature | None, Meta(description="of the device, over all that stands before it")] = None


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
    at: Annotated[Milliseconds | None, Meta(description="wall clock of the table; null: not told")] = None
    disk_mib: Annotated[
        Count | None, Meta(description=f"free on its disk, in steps of {DISK_STEP_MIB} MiB; null: not told")
    ] = None
    celsius: Annotated[
        Annotated[int, Meta(ge=-99, le=199)] | None, Meta(description="of its hottest part; null: not known")
    ] = None


# ---- from the scorer ----------------------------------------------------------------------------


class FromScorer(Message, frozen=True, kw_only=True):
    """The fields of every message from the scorer."""

    seq: Annotated[Count, Meta(description="height of the scorer's journal when this was said")]


class ToTable(FromScorer, frozen=True, kw_only=True):
    """The fields of the scorer's messages to tables. `seq` hides the journal's height, which would reveal too much."""

    seq: Annotated[
        Count, Meta(description="grows with each message to this table, or to all, since the scorer was started")
    ]


ScorerTerm = Annotated[Count, Meta(description="of the scorer: with `seq` it tells what is older; 0: not known")]

BrokerPlace = Annotated[str, Meta(pattern=rf"^(?:(?:{HOST_PATTERN}|\[[0-9A-Fa-f:]{{2,45}}\]):[0-9]{{1,5}})?$(?!\n)")]
"""HOST:PORT of a broker; empty: none."""


class ScorerState(ToTable, frozen=True, kw_only=True):
    """Sent by the active scorer every BEAT_S seconds; its last will reports `gone`."""

    run: Annotated[MessageId, Meta(description="another one whenever the program is started")]
    term: Annotated[Count, Meta(description="grows with each start; of two scorers the higher one stays")]
    answers: Annotated[MessageId | None, Meta(description="the run of another scorer that has asked")] = None
    store: StoreId
    lifecycle: Literal["active", "gone"]
    version: Version
    standby: Annotated[BrokerPlace, Meta(description="where tables try next when they lose this broker")] = ""
    moved: Annotated[BrokerPlace, Meta(description="where the scorer's broker is, if not here: tables go there")] = ""


class ScorerAsked(Message, frozen=True, kw_only=True):
    """A scorer asks whether another one is active. An active one answers with its state."""

    run: Annotated[MessageId, Meta(description="of the one that asks")]
    term: Annotated[int, Meta(ge=0, description="the last one that the asker's store knows of")] = 0
    starts: Annotated[
        bool, Meta(description="whether it becomes the active one if none answers; else it is one already, or follows")
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
    at: Annotated[Milliseconds | None, Meta(description="wall clock of the scorer; null: not told")] = None
    store: StoreId
    upto: Count
    gaps: Annotated[tuple[Seq, ...], Meta(max_length=1000)]
    taken: Annotated[tuple[Taken, ...], Meta(max_length=100)]
    refused: Annotated[tuple[Refusal, ...], Meta(max_length=100)]
    head: Annotated[Hash | None, Meta(description="of the fact `upto`: the chain that the scorer has")] = None
    wanted: Annotated[
        tuple[Seq, ...], Meta(max_length=100, description="facts that the scorer once had and asks for again")
    ] = ()
    anchor: Annotated[
        Anchor | None,
        Meta(description="proves later what was stored when this was said (docs/store.md); null: not told"),
    ] = None
    version: Annotated[Version | None, Meta(description="of the scorer's program; null: one that does not say it")] = (
        None
    )
    centre: Annotated[AtCentre | None, Meta(description="in a hall; null: no centre was heard of")] = None
    signature: Annotated[Signature | None, Meta(description="of the event's key, over all that stands before it")] = (
        None
    )


class Assignment(ToTable, frozen=True, kw_only=True):
    """All plays of one table, so that it can go on offline."""

    table: TableNo
    store: StoreId
    profile: ProfileId
    rules: (
        Annotated[
            str, Meta(max_length=LONGEST_PROFILE, description="the profile itself, as TOML, where it does not ship")
        ]
        | None
    ) = None
    plays: Annotated[tuple[PlannedPlay, ...], Meta(max_length=200)]
    session: Annotated[PlannedSession | None, Meta(description="with it the table plays riichi, by that profile")] = (
        None
    )
    recorded: Annotated[tuple[RoundNo, ...], Meta(max_length=200, description="rounds whose result is stored")]
    repeats: Annotated[
        dict[RoundNo, Annotated[tuple[PlayerId, ...], Meta(max_length=4)]],
        Meta(max_length=200, description="in rounds to come: who has played that deal already, at any table"),
    ] = {}
    settled: Annotated[
        tuple[RoundNo, ...],
        Meta(max_length=200, description="of the recorded: rounds that arbiters have settled before they were played"),
    ] = ()
    minutes: Annotated[
        dict[RoundNo, PlayMinutes],
        Meta(max_length=200, description="time for the play of a round, from its confirmation; others have no limit"),
    ] = {}
    onward: Annotated[
        dict[RoundNo, Annotated[dict[PlayerId, NextSeat | None], Meta(max_length=4)]],
        Meta(max_length=200, description="after which rounds somebody leaves, and where all go; null: no play is left"),
    ] = {}
    public_address: PublicAddress = ""
    keep_plays: Annotated[bool, Meta(description="the table offers to read the rivers after a play")] = False


class UpgradeOffer(Struct, frozen=True, kw_only=True):
    """Another version of the program that a table may fetch from the desk. Its manifest is signed."""

    version: Version
    manifest: Hash
    host: Annotated[
        Annotated[str, Meta(pattern=f"^(?:{HOST_PATTERN})$(?!\\n)")] | None,
        Meta(description="where the desk is; null: where the broker is"),
    ] = None
    port: Annotated[int, Meta(ge=1, le=65535)]
    install: Annotated[bool, Meta(description="an arbiter has said that the table may change to it")] = False


class Served(ToTable, frozen=True, kw_only=True):
    """The scorer's view of a table: which device serves it, and the progress of its call."""

    table: TableNo
    device: Annotated[DeviceId | None, Meta(description="the one whose facts are taken; null: none has spoken")]
    refused: Annotated[DeviceId | None, Meta(description="another one that was refused last")] = None
    unknown: Annotated[
        DeviceId | None, Meta(description="the last one that spoke without having been admitted here")
    ] = None
    calls_before: Annotated[Count | None, Meta(description="open calls that are older than its own; null: none")] = None
    arbiter_coming: Annotated[bool, Meta(description="an arbiter is on the way to its call; who is not told")] = False
    upgrade: Annotated[UpgradeOffer | None, Meta(description="null: none is offered")] = None
    unseen: Annotated[
        bool, Meta(description="its device is there, and how the table stands is not known: it is to say so again")
    ] = False
    term: ScorerTerm = 0


class PinAnswer(Struct, frozen=True, kw_only=True):
    """The result of checking a PIN."""

    asked: Annotated[SessionNonce, Meta(description="of which PIN")]
    session: Annotated[SessionId | None, Meta(description="the session that it opens; null: none")] = None
    code: Annotated[Code | None, Meta(description="why it opens none: `pin_wrong`, `pin_locked`")] = None


class ArbiterPin(ToTable, frozen=True, kw_only=True):
    """How a table has a PIN checked: the key to which it is sealed, and the result for the last PIN."""

    table: TableNo
    key: Annotated[PublicKey, Meta(description="of the event, X25519")]
    mark: Annotated[PinMark | None, Meta(description="tells one setting of the PIN from another; null: there is none")]
    answer: PinAnswer | None = None
    term: ScorerTerm = 0
    signature: Annotated[Signature | None, Meta(description="of the event's key, over all that stands before it")] = (
        None
    )


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


MOST_KEPT: Final = 200
"""Most records that a table stores for the scorer at a time."""


class KeptRecord(Struct, frozen=True, kw_only=True):
    """One of the scorer's records, stored by a table. Only the scorer can decrypt and authenticate it."""

    id: MessageId
    sealed: Annotated[str, Meta(max_length=65_536, pattern=r"^[A-Za-z0-9+/=]*$(?!\n)", description="in base64")]


KeptRecords = Annotated[tuple[KeptRecord, ...], Meta(max_length=MOST_KEPT)]


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
    stage: Annotated[str, Meta(description="of which the place is; empty: the event is one stage")] = ""
    section: str = ""


class TeamStanding(Struct, frozen=True, kw_only=True):
    """One team's line in the standings."""

    place: Annotated[int, Meta(ge=1)]
    team: Name
    imp: Imp
    fines: int
    deals: Count
    best: Annotated[int | None, Meta(description="the best place that it can still reach; null: not told")] = None
    worst: Annotated[int | None, Meta(description="the last place that it can still come to")] = None
    likely: Annotated[
        tuple[int, int] | None, Meta(description="the places between which it is likely to end; null: not told")
    ] = None
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
        Meta(description="the last word on this (a result, a ruling) that its author had before them; null: none"),
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

    number: Annotated[Seq, Meta(description="order of what is decided about devices, without gaps")]
    table: TableNo
    device: DeviceId
    key: Annotated[PublicKey | None, Meta(description="null: it cannot sign, and is believed all the same")]
    machine: MachineName = ""
    author: Annotated[Name | None, Meta(description="null: it was paired, or the organiser has listed it")] = None
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
        SessionId | None, Meta(description="what the table's facts name that follow from it; null: an older desk")
    ] = None


CLOCK_TOLERANCE_MS: Final = 120_000


def clock_is_behind(at: int, heard: int | None) -> bool:
    """Return whether a clock that shows `at` is far behind the scorer's, which showed `heard` before. Ms since 1970."""
    return heard is not None and heard - at > CLOCK_TOLERANCE_MS


def clock_offset(state: TableState, now: int) -> int | None:
    """Return how far a table's clock is ahead (below 0: behind), in ms; 0 within the tolerance, None if unknown."""
    if state.at is None:
        return None
    if state.at - now > CLOCK_TOLERANCE_MS:
        return state.at - now
    if state.heard is None:
        return None
    return state.at - state.heard if clock_is_behind(state.at, state.heard) else 0
