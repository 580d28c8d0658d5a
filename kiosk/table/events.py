"""What has happened at a table: frozen events in the past tense, which the journal keeps; and the refusal of an event.

Times are nanoseconds of the device's monotonic clock; they come in with the event, nothing here reads a clock.

A journal may come back to an older program (docs/upgrade.md), which passes over fields that it does not know. It passes
over a kind of event that it does not know where that says `"optional": true`; any other it cannot play on from.
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
"""How a self-test of the hardware ended."""


class Happened(Struct, frozen=True, kw_only=True):
    """Base of all events."""

    at: Annotated[int, Meta(ge=0, description="ns, monotonic")]


class Assigned(Happened, frozen=True, tag="assigned", kw_only=True):
    """The scorer said who plays what here."""

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
    """The place that it should be exchanged with, row and column."""


class TrayChecked(Happened, frozen=True, tag="tray_checked", kw_only=True):
    """A tray was read: `rows` as read (None: no serial there), and what is wrong with it."""

    seat: Seat
    rows: tuple[tuple[int | None, ...], ...]
    wrong: tuple[Misplaced, ...] = ()
    by: Reader = "camera"


class RowTicked(Happened, frozen=True, tag="row_ticked", kw_only=True):
    """Somebody says that a row of a tray is right, without a device that has read it; or takes that back."""

    seat: Seat
    row: Annotated[int, Meta(ge=0, le=2)]
    right: bool = True


class CarrierTakenApart(Happened, frozen=True, tag="carrier_taken_apart", kw_only=True):
    """Staff say that no prepared deal lies in this carrier: the deal is to be laid from its tiles."""


class ButtonPressed(Happened, frozen=True, tag="button_pressed", kw_only=True):
    """A seat button went down; `at` is the time of the kernel's edge."""

    seat: Seat


class ButtonReleased(Happened, frozen=True, tag="button_released", kw_only=True):
    """A finger let go of a seat button; `at` is the time of the kernel's edge."""

    seat: Seat


class ButtonHeld(Happened, frozen=True, tag="button_held", kw_only=True):
    """A finger has held a seat button for two seconds: the player calls. `at` is when it went down."""

    seat: Seat


class SeatsSwapped(Happened, frozen=True, tag="seats_swapped", kw_only=True):
    """The arbiter lets two players stay in each other's seats."""

    one: Seat
    other: Seat
    reason: Reason


class GuardOverridden(Happened, frozen=True, tag="guard_overridden", kw_only=True):
    """The arbiter lets a play go on that the table has stopped before a tile was touched."""

    reason: Reason


class DealBroughtForward(Happened, frozen=True, tag="deal_brought_forward", kw_only=True):
    """The arbiter lets the deal be played now whose carrier is here, though another has its turn."""

    round: RoundNo
    reason: Reason


class ArbiterAdmitted(Happened, frozen=True, tag="arbiter_admitted", kw_only=True):
    """An arbiter has given the PIN at the table, or the desk has let one in."""

    by: Name
    session: SessionId | None = None
    """What this arbiter's facts name; None in a journal from before they did."""
    sealed: SealedPin | None = None
    """The PIN, where the scorer could not be asked whether it is right."""


class ArbiterLeft(Happened, frozen=True, tag="arbiter_left", kw_only=True):
    """The arbiter has done, or has not touched anything for a while."""


class PinRefused(Happened, frozen=True, tag="pin_refused", kw_only=True):
    """Somebody gave a wrong PIN."""


class PauseRuled(Happened, frozen=True, tag="pause_ruled", kw_only=True):
    """The arbiter at the table pauses it, or lets it go on."""

    begin: bool
    reason: Text = ""
    """Empty where the table goes on, and in a journal from before tables asked for it."""


class ExtraTimeGiven(Happened, frozen=True, tag="extra_time_given", kw_only=True):
    """The arbiter at the table adds minutes to the play."""

    minutes: Annotated[int, Meta(ge=1, le=60)]
    reason: Text = ""


class PlayVoided(Happened, frozen=True, tag="play_voided", kw_only=True):
    """The arbiter has found that the play counts for nobody."""

    reason: Reason


class PlayAdjusted(Happened, frozen=True, tag="play_adjusted", kw_only=True):
    """The arbiter gives each player what the profile gives for a play that could not be played, by fault."""

    at_fault: tuple[Seat, ...]
    reason: Reason


class Reopened(Happened, frozen=True, tag="reopened", kw_only=True):
    """The arbiter takes back a result that four have accepted: another is entered."""

    reason: Reason


class DeclarationsCorrected(Happened, frozen=True, tag="declarations_corrected", kw_only=True):
    """The arbiter puts right who has declared."""

    seats: tuple[Seat, ...]
    reason: Reason


class ClaimWindowElapsed(Happened, frozen=True, tag="claim_window_elapsed", kw_only=True):
    """The claim window's time is over."""

    asks: bool = False
    """Whether presses that may be no declarations are asked about; in older journals they were not."""


class PlayEndedDrawn(Happened, frozen=True, tag="play_ended_drawn", kw_only=True):
    """Somebody at the table says that the last tile was discarded and nobody won."""


class FalseHuRuled(Happened, frozen=True, tag="false_hu_ruled", kw_only=True):
    """The arbiter has found a declaration false; the play goes on for the others (OEDMC)."""

    seat: Seat
    imp: FineImp
    reason: Text


class InfractionRuled(Happened, frozen=True, tag="infraction_ruled", kw_only=True):
    """The arbiter has ruled that players did what the rules of the event do not allow."""

    seats: Annotated[tuple[Seat, ...], Meta(min_length=1, max_length=4)]
    infraction: InfractionId
    measure: rulings.Measure
    imp: Annotated[int, Meta(ge=0, le=FINE_IMP)] = 0


class ValueEntered(Happened, frozen=True, tag="value_entered", kw_only=True):
    """How the play was won, and the hand values."""

    win: WinKind
    winners: dict[Seat, HandValue]
    discarder: Seat | None = None
    declared_on: dict[Seat, Seat] = {}
    """On whose tile each has declared; empty where one has, and in older journals that was asked."""


class ResultRefused(Happened, frozen=True, tag="result_refused", kw_only=True):
    """Somebody does not accept the result as shown: it is entered again."""


class NoHuMeant(Happened, frozen=True, tag="no_hu_meant", kw_only=True):
    """To the question whether hu was meant, somebody has answered at the screen that the play is to go on."""


class PlayKept(Happened, frozen=True, tag="play_kept", kw_only=True):
    """What lay on the table after a play was read, so that it can be told how it went."""

    seats: dict[Seat, LaidSeat]
    winning: types.Serial | None = None


class NextDealCalled(Happened, frozen=True, tag="next_deal_called", kw_only=True):
    """Staff go on to the next deal."""


class CallToggled(Happened, frozen=True, tag="call_toggled", kw_only=True):
    """The table calls the arbiter, or takes the call back; the arbiter's desk can clear it too."""

    open: bool


class Ordered(Happened, frozen=True, tag="ordered", kw_only=True):
    """The arbiter's desk has given an order."""

    seq: Count
    id: Annotated[str, Meta(max_length=64)] = ""
    """Of the desk's message; empty in a journal from before tables kept it."""
    command: Command
    minutes: Annotated[int, Meta(ge=0, le=60)] = 0
    author: Name = "desk"
    session: SessionId | None = None
    """What the facts name that follow from it."""


class DepositLaid(Happened, frozen=True, tag="riichi_laid", kw_only=True):
    """A riichi deposit was laid, or taken back, at the screen; at the button a long press lays it (`ButtonHeld`)."""

    seat: Seat
    laid: bool


class HandEntered(Happened, frozen=True, tag="hand_told", kw_only=True):
    """It was said how a hand of riichi ended, or what fault there was in it."""

    told: RiichiEvent
    on_riichi_tile: bool = False
    """The tile that was won on declared riichi, which so did not come about."""
    declared_on: dict[Seat, Seat] = {}
    """As in `ValueEntered`."""


class LastTakenBack(Happened, frozen=True, tag="last_taken_back", kw_only=True):
    """The last entry of a riichi session does not stand."""


class SessionStopped(Happened, frozen=True, tag="session_stopped", kw_only=True):
    """A riichi session ends between two hands: the time is up."""


class SelfTestBegun(Happened, frozen=True, tag="self_test_begun", kw_only=True):
    """The self-test of the hardware has begun: by itself at the start of a day, or because somebody asked for it."""

    asked: bool = False


class SelfTestEnded(Happened, frozen=True, tag="self_test_ended", kw_only=True):
    """The self-test is over, or was skipped; `found` is what was wrong, as `part: code`."""

    verdict: Verdict
    found: Annotated[tuple[Text, ...], Meta(max_length=64)] = ()


class Restarted(Happened, frozen=True, tag="restarted", kw_only=True):
    """The program has started again. After a power cut times before this are of another clock."""

    same_clock: bool = False
    doubts: bool = False
    """Whether a press from before may still be doubtful; in older journals none was."""


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
