"""The table's rules of procedure: pure, no device, no clock."""

from broker.protocol.arbiter_session import AT_THE_TABLE
from kiosk.table.arbiter import (
    FREE_TRIES,
    refuse_locked_pin,
)
from kiosk.table.claim import DOUBTFUL_NS
from kiosk.table.events import (
    ArbiterAdmitted,
    ArbiterLeft,
    Assigned,
    ButtonHeld,
    ButtonPressed,
    ButtonReleased,
    CallToggled,
    CarrierTakenApart,
    ClaimWindowElapsed,
    DealBroughtForward,
    DeclarationsCorrected,
    DepositLaid,
    Event,
    ExtraTimeGiven,
    FalseHuRuled,
    GuardOverridden,
    HandEntered,
    InfractionRuled,
    LastTakenBack,
    Misplaced,
    NextDealCalled,
    NoHuMeant,
    NotNow,
    Ordered,
    PauseRuled,
    PinRefused,
    PlayAdjusted,
    PlayEndedDrawn,
    PlayKept,
    PlayVoided,
    Reopened,
    Restarted,
    ResultRefused,
    RowTicked,
    SeatsSwapped,
    SelfTestBegun,
    SelfTestEnded,
    SessionStopped,
    TrayChecked,
    ValueEntered,
    Verdict,
)
from kiosk.table.guards import (
    BEFORE_PLAY,
    IDLE,
    PLAY,
    in_play,
)
from kiosk.table.machine import (
    BETWEEN,
    handle,
)
from kiosk.table.plan import (
    LAYING,
    gives_way,
    may_renew,
)
from kiosk.table.sequence_watch import SequenceWatch, Unexpected
from kiosk.table.session import LINES, RiichiSession, SessionEntry, sheet_pages
from kiosk.table.state import (
    QUIET,
    SETTLE_NS,
    Doubt,
    Light,
    Phase,
    Table,
    TrayProblem,
    minutes_left,
    paused_ms,
    play_minutes,
    played_ms,
    profile_of,
    riichi_session_of,
)
from kiosk.table.trays import (
    PLACES,
    Carrier,
    Content,
    Deal,
    Move,
    PlaceContent,
    PutIn,
    Shift,
    Swap,
    TakeOut,
    TilePlace,
    Work,
    known_places,
    place_by_serial,
    places_of,
    rows_left,
    serial_by_place,
    work_after_look,
)
from kiosk.table.walls import (
    ENOUGH,
)
