"""The table's screen: what it shows, and what a finger may touch."""

from kiosk.screens.drawing import TextLine, TextPen
from kiosk.screens.fonts import CHINESE_FONT_HINT, HAN_LANGUAGES, chinese_font
from kiosk.screens.layout import (
    FINGER,
    TargetPainter,
    TouchTarget,
)
from kiosk.screens.table import (
    TableScreen,
)
from kiosk.screens.texts import translator
from kiosk.screens.tray import fault_sentences, tray_verdict
from kiosk.screens.views import (
    AcceptingView,
    CallView,
    DeclaredView,
    ElsewhereView,
    PairingView,
    PlayingView,
    PlayView,
    RecordedView,
    RestoringView,
    ResultView,
    ScreenView,
    SeatingView,
    SessionView,
    StatusLine,
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
    QUIT,
    TOUCHES,
    ScreenWindow,
    open_keyboards,
    type_key,
)
