"""The events of a table, frozen and in the past tense, which the journal stores.

Times are in ns of the device's monotonic clock. They come with the event; nothing here reads a clock.

An older program may read the journal later (docs/upgrade.md). It ignores fields that it does not know, and skips an
event of an unknown type if that says `"optional": true`. Any other unknown type keeps it from playing on.
"""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from broker.protocol import (
    FINE_IMP,
    Assignment,
    Command,
    Count,
    FineImp,
    HandValue,
    InfractionId,
    LaidSeat,
    Name,
    Reason,
    RiichiEvent,
    RoundNo,
    SealedPin,
    Seat,
    SessionId,
    Text,
    WinKind,
    rulings,
    types,
)

Reader = Literal["camera", "scanner"]

Verdict = Literal["passed", "failed", "skipped"]
"""How a hardware self-test ended."""


class Happened(Struct, frozen=True, kw_only=True):
    """Base of all events."""

    at: Annotated[int, Meta(ge=0, description="ns, monotonic")]


class Assigned(Happened, frozen=True, tag="assigned", kw_only=True):
    """The scorer has sent the plan of this table."""

    assignment: Assignment
    first: Annotated[int, Meta(ge=0, description="index of the first play without a result")] = 0


class Misplaced(Struct, frozen=True, kw_only=True):
    """One place of a tray that is not as it should be."""

    kind: str
    row: int
    col: int
    expected: int
    found: int | None = None
    other: tuple[int, int] | None = None
    """Row and column of the place to exchange it with."""


class TrayChecked(Happened, frozen=True, tag="tray_checked", kw_only=True):
    """A tray was read: its `rows` as read (None: no serial there), and what is wrong with it."""

    seat: Seat
    rows: tuple[tuple[int | None, ...], ...]
    wrong: tuple[Misplaced, ...] = ()
    by: Reader = "camera"


class RowTicked(Happened, frozen=True, tag="row_ticked", kw_only=True):
    """Somebody vouched for a row of a tray that no device has read, or took that back."""

    seat: Seat
    row: Annotated[int, Meta(ge=0, le=2)]
    right: bool = True


class CarrierTakenApart(Happened, frozen=True, tag="carrier_taken_apart", kw_only=True):
    """Staff say that this carrier holds no prepared deal: the deal is to be laid from its tiles."""


class ButtonPressed(Happened, frozen=True, tag="button_pressed", kw_only=True):
    """A seat button went down; `at` is the time of the kernel's edge."""

    seat: Seat


class ButtonReleased(Happened, frozen=True, tag="button_released", kw_only=True):
    """A finger let go of a seat button; `at` is the time of the kernel's edge."""

    seat: Seat


class ButtonHeld(Happened, frozen=True, tag="button_held", kw_only=True):
    """A finger has held a seat button for two seconds, which calls the arbiter. `at` is when it went down."""

    seat: Seat


class SeatsSwapped(Happened, frozen=True, tag="seats_swapped", kw_only=True):
    """The arbiter has let two players stay in each other's seats."""

    one: Seat
    other: Seat
    reason: Reason


class GuardOverridden(Happened, frozen=True, tag="guard_overridden", kw_only=True):
    """The arbiter has let a play go on that the table had stopped before a tile was touched."""

    reason: Reason


class DealBroughtForward(Happened, frozen=True, tag="deal_brought_forward", kw_only=True):
    """The arbiter has let the deal whose carrier is here be played now, before its turn."""

    round: RoundNo
    reason: Reason


class ArbiterAdmitted(Happened, frozen=True, tag="arbiter_admitted", kw_only=True):
    """An arbiter has entered the PIN at the table, or the desk has let one in."""

    by: Name
    session: SessionId | None = None
    """The session that this arbiter's facts name; None in journals older than sessions."""
    sealed: SealedPin | None = None
    """The sealed PIN, if the scorer could not be asked whether it is right."""


class ArbiterLeft(Happened, frozen=True, tag="arbiter_left", kw_only=True):
    """The arbiter has finished, or has not touched anything for a while."""


class PinRefused(Happened, frozen=True, tag="pin_refused", kw_only=True):
    """Somebody entered a wrong PIN."""


class PauseRuled(Happened, frozen=True, tag="pause_ruled", kw_only=True):
    """The arbiter at the table has paused it, or has let play resume."""

    begin: bool
    reason: Text = ""
    """Empty when play resumes, and in journals older than this field."""


class ExtraTimeGiven(Happened, frozen=True, tag="extra_time_given", kw_only=True):
    """The arbiter at the table has added minutes to the play."""

    minutes: Annotated[int, Meta(ge=1, le=60)]
    reason: Text = ""


class PlayVoided(Happened, frozen=True, tag="play_voided", kw_only=True):
    """The arbiter has ruled that the play counts for nobody."""

    reason: Reason


class PlayAdjusted(Happened, frozen=True, tag="play_adjusted", kw_only=True):
    """The arbiter has adjusted the play: each player gets the profile's award for an unplayable play, by fault."""

    at_fault: tuple[Seat, ...]
    reason: Reason


class Reopened(Happened, frozen=True, tag="reopened", kw_only=True):
    """The arbiter has cancelled an accepted result, so that another can be entered."""

    reason: Reason


class DeclarationsCorrected(Happened, frozen=True, tag="declarations_corrected", kw_only=True):
    """The arbiter has corrected who declared."""

    seats: tuple[Seat, ...]
    reason: Reason


class ClaimWindowElapsed(Happened, frozen=True, tag="claim_window_elapsed", kw_only=True):
    """The claim window's time is over."""

    asks: bool = False
    """Whether presses that may not be declarations are queried. In older journals they were not."""


class PlayEndedDrawn(Happened, frozen=True, tag="play_ended_drawn", kw_only=True):
    """Somebody at the table has reported that the last tile was discarded and nobody won."""


class FalseHuRuled(Happened, frozen=True, tag="false_hu_ruled", kw_only=True):
    """The arbiter has ruled a declaration false; the play goes on for the others (OEDMC)."""

    seat: Seat
    imp: FineImp
    reason: Text


class InfractionRuled(Happened, frozen=True, tag="infraction_ruled", kw_only=True):
    """The arbiter has ruled that players broke a rule of the event."""

    seats: Annotated[tuple[Seat, ...], Meta(min_length=1, max_length=4)]
    infraction: InfractionId
    measure: rulings.Measure
    imp: Annotated[int, Meta(ge=0, le=FINE_IMP)] = 0


class ValueEntered(Happened, frozen=True, tag="value_entered", kw_only=True):
    """Somebody has entered how the play was won, and the hand values."""

    win: WinKind
    winners: dict[Seat, HandValue]
    discarder: Seat | None = None
    declared_on: dict[Seat, Seat] = {}
    """On whose tile each winner declared. Empty if only one declared, and in journals older than this question."""


class ResultRefused(Happened, frozen=True, tag="result_refused", kw_only=True):
    """Somebody does not accept the result shown; it is entered again."""


class NoHuMeant(Happened, frozen=True, tag="no_hu_meant", kw_only=True):
    """Asked whether hu was meant, somebody has answered at the screen that play is to go on."""


class PlayKept(Happened, frozen=True, tag="play_kept", kw_only=True):
    """The tiles on the table were read after a play, so that it can be kept."""

    seats: dict[Seat, LaidSeat]
    winning: types.Serial | None = None


class NextDealCalled(Happened, frozen=True, tag="next_deal_called", kw_only=True):
    """Staff have gone on to the next deal."""


class CallToggled(Happened, frozen=True, tag="call_toggled", kw_only=True):
    """The table has called the arbiter, or withdrawn the call; the desk can clear it too."""

    open: bool


class Ordered(Happened, frozen=True, tag="ordered", kw_only=True):
    """The arbiter's desk has given an order."""

    seq: Count
    id: Annotated[str, Meta(max_length=64)] = ""
    """Id of the desk's message; empty in journals older than this field."""
    command: Command
    minutes: Annotated[int, Meta(ge=0, le=60)] = 0
    author: Name = "desk"
    session: SessionId | None = None
    """The session that the resulting facts name."""


class DepositLaid(Happened, frozen=True, tag="riichi_laid", kw_only=True):
    """A riichi deposit was laid or taken back on the screen. A long press also lays one (`ButtonHeld`)."""

    seat: Seat
    laid: bool


class HandEntered(Happened, frozen=True, tag="hand_told", kw_only=True):
    """Somebody has entered how a hand of riichi ended, or a fault in it."""

    told: RiichiEvent
    on_riichi_tile: bool = False
    """Whether the win was on the tile with which riichi was declared, so that the riichi did not come about."""
    declared_on: dict[Seat, Seat] = {}
    """As in `ValueEntered`."""


class LastTakenBack(Happened, frozen=True, tag="last_taken_back", kw_only=True):
    """The last entry of a riichi session was taken back."""


class SessionStopped(Happened, frozen=True, tag="session_stopped", kw_only=True):
    """A riichi session was ended between two hands, as the time is up."""


class SelfTestBegun(Happened, frozen=True, tag="self_test_begun", kw_only=True):
    """The hardware self-test has begun, by itself at the start of a day or because somebody asked for it."""

    asked: bool = False


class SelfTestEnded(Happened, frozen=True, tag="self_test_ended", kw_only=True):
    """The self-test has ended or was skipped; `found` lists its faults, as `part: code`."""

    verdict: Verdict
    found: Annotated[tuple[Text, ...], Meta(max_length=64)] = ()


class Restarted(Happened, frozen=True, tag="restarted", kw_only=True):
    """The program has started again. After a power cut, earlier times are of another clock."""

    same_clock: bool = False
    doubts: bool = False
    """Whether presses from before may still be queried as doubtful. In older journals they were not."""


Event: TypeAlias = (
    Assigned
    | TrayChecked
    | RowTicked
    | CarrierTakenApart
    | ButtonPressed
    | ButtonReleased
    | ButtonHeld
    | ArbiterAdmitted
    | ArbiterLeft
    | PinRefused
    | PauseRuled
    | ExtraTimeGiven
    | PlayVoided
    | PlayAdjusted
    | Reopened
    | DeclarationsCorrected
    | SeatsSwapped
    | GuardOverridden
    | DealBroughtForward
    | ClaimWindowElapsed
    | PlayEndedDrawn
    | FalseHuRuled
    | InfractionRuled
    | ValueEntered
    | ResultRefused
    | NoHuMeant
    | PlayKept
    | NextDealCalled
    | CallToggled
    | Ordered
    | DepositLaid
    | HandEntered
    | LastTakenBack
    | SessionStopped
    | SelfTestBegun
    | SelfTestEnded
    | Restarted
)
