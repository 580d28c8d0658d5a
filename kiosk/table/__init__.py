"""The rules of procedure at a table, as pure functions: no devices, no clock."""

from kiosk.table import events
from kiosk.table.arbiter import (
    FREE_TRIES,
    refuse_locked_pin,
)
from kiosk.table.claim import DOUBTFUL_NS
from kiosk.table.events import Event, Misplaced, Verdict
from kiosk.table.machine import (
    BEFORE_PLAY,
    BETWEEN_PLAYS,
    IDLE,
    active_guards,
    handle,
    players_repeating,
)
from kiosk.table.plan import (
    ENOUGH,
    PREPARING,
    gives_way,
    may_renew,
)
from kiosk.table.session import LINES_PER_PAGE, RiichiSession, SessionEntry, sheet_pages
from kiosk.table.state import (
    QUIET,
    SETTLE_NS,
    Doubt,
    Light,
    NotNow,
    Phase,
    Table,
    TrayProblem,
    in_play,
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
