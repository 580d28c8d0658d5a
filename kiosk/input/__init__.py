"""What a table's buttons, keys and touches mean, and the forms and panels that they fill in."""

from kiosk.input.controls import Keyboard, TableButtons
from kiosk.input.forms import (
    HAN_WITHOUT_FU,
    Form,
    WinForm,
    goes_back,
)
from kiosk.input.panel import (
    INFRACTIONS_SHOWN,
    REASONS,
    YES,
    ArbiterPanel,
    Offence,
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
