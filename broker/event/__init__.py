"""An event as its folder describes it."""

from broker.event.event import (
    Event,
    PlanVersion,
    PlayColumns,
    open_event,
)
from broker.event.files import (
    DEALS,
    HANDS,
    PLAYERS,
    PROFILE,
    PROFILES,
    SETS,
    UNKNOWN_ORIGIN,
    DealRecord,
    HandRecord,
    ListedDevice,
    Listing,
    Origin,
    OwnRules,
    Registry,
    SetFaces,
    read_deals,
    read_devices,
    read_hands,
    read_listings,
    read_registry,
    write_deals,
    write_devices,
    write_hands,
    write_registry,
)
from broker.event.plan import (
    BookedPlay,
    Keying,
    Plan,
    RiichiBooking,
    SessionKey,
    read_plan,
    save_event,
    session_problems,
    write_plan,
)
from broker.output import EVENT, MOVEMENT, STANDINGS
