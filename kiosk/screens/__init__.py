"""What is seen at a table, and what a finger may touch there."""

from kiosk.screens.device import (
    fault_name,
    part_and_fault,
    part_name,
    remedy,
    with_remedy,
)
from kiosk.screens.drawing import EDGE, GROUND, LOWERED, PANEL, SMALLEST, TEXT, Align, Appearance, Colour, Hand, TextPen
from kiosk.screens.fonts import HAN, HINT, Fonts, chinese_font
from kiosk.screens.layout import (
    FINGER,
    ScreenLayout,
    TargetPainter,
    TouchTarget,
    seats_around,
)
from kiosk.screens.riichi_views import Scores, SessionView, planned_riichi_view, session_view, sheet_view
from kiosk.screens.seats import (
    sticks,
)
from kiosk.screens.table import (
    TableScreen,
    current_screen,
)
from kiosk.screens.tray import fault_sentences, tray_verdict
from kiosk.screens.views import (
    AcceptingView,
    CallView,
    DeclaredView,
    ElsewhereView,
    IdleView,
    PairingView,
    PhaseView,
    PlayingView,
    PlayView,
    RecordedView,
    RestoringView,
    ResultView,
    ScreenView,
    SeatingView,
    StatusLine,
    TimeView,
    may_pair,
    screen_view,
    stopped_view,
    with_counting,
    with_keeping,
    with_pairing,
    with_receipt,
    with_riichi,
    with_time_left,
)
from kiosk.screens.window import (
    QUICK_FOR_NS,
    QUICK_S,
    QUIT,
    ROUND_S,
    SECOND_NS,
    SEEN_NS,
    TOUCHES,
    Backlight,
    Dimming,
    Finger,
    PollingPace,
    ScreenWindow,
    open_keyboards,
    type_key,
)
