"""The scorer: receives messages, stores them, and publishes standings."""

from broker.scorer.alerts import ALERT_CODES, Concern, concerns_of_faults
from broker.scorer.intake import Intake
from broker.scorer.quarantine import ApartPlay, Judged
from broker.scorer.sheets import (
    DealSheet,
    PlayerSheet,
    PlayLine,
    ReceiptIndex,
    ReceiptSheet,
    TeamSheet,
    deal_sheet,
    player_sheet,
    receipt_sheet,
    team_sheet,
)
from broker.scorer.snapshot import Embargo, RepeatedDeal, Snapshot, open_part, standing_rows
from broker.scorer.space import READ_ONLY, DiskLevel, disk_room
from broker.scorer.standings import no_origin, standings_csv, team_standings_csv
from broker.scorer.standings_view import (
    StandingsHistory,
    StandingsRow,
    StandingsTable,
    standings_history,
    standings_table,
)
from broker.scorer.state import EventState
from broker.scorer.stored_event import StoredEvent, Verified, open_stored_event, read_journal, verify_store
from broker.scorer.tables import VISIT_KINDS, Visit
from broker.scorer.view import (
    PLAYING,
    AlertView,
    AnchorView,
    DashboardView,
    HallContact,
    PlayView,
    SeatView,
    TableView,
    ViewFeed,
    as_json,
    paused_left_ms,
    time_up_at,
    whole_minutes,
)
