"""Buttons, keys and touches of a table: what they mean, and the forms and panels that they fill in."""

from kiosk.input.buttons import (
    AGREEING,
    BACK_NS,
    END_NS,
    GRACE_NS,
    PATIENCE_NS,
    ButtonInput,
    TableButtons,
    WindowClosing,
)
from kiosk.input.forms import (
    FU_FROM,
    Form,
    WinEntered,
    WinForm,
    Won,
    goes_back,
    press_form_key,
    press_win_key,
)
from kiosk.input.keyboard import Keyboard, NoPin, PinChecker
from kiosk.input.panel import (
    INFRACTIONS_SHOWN,
    REASONS,
    YES,
    Act,
    ArbiterPanel,
    Decided,
    Offence,
    PanelClosed,
    PanelResult,
    opened_panel,
    panel_draft,
    panel_from_draft,
    possible_acts,
    press_panel_key,
)
from kiosk.input.riichi import (
    RiichiForm,
    RiichiQuestion,
    abort_reasons,
    chombo_spoils,
)
from kiosk.input.what_happened import (
    ANSWERS_SHOWN,
    SceneForm,
)
