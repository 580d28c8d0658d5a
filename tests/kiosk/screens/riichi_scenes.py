"""Scenes of a table that plays riichi: sessions, and planned deals."""

from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Final

import msgspec

from broker.protocol import (
    SEATS,
    AnyCountAnswer,
    CountedFu,
    CountedYaku,
    CountRequest,
    NotCounted,
    RiichiValue,
    RiichiWin,
)
from kiosk.camera.observations import HandObservation, Winner
from kiosk.counting.desk import CountingView, begin_counting
from kiosk.input import RiichiForm, RiichiQuestion, WinForm
from kiosk.screens import ScreenView, with_counting
from kiosk.screens.views import planned_riichi_view, session_view
from kiosk.table import Table
from kiosk.table.events import DepositLaid, PlayEndedDrawn
from tests.kiosk.riichi_tables import AloneSitting, RiichiSitting, fu30, session_plan
from tests.kiosk.screens.counting_scenes import sight
from tests.kiosk.screens.scenes import CHINESE, LONG, SCENES, named, seen

MOST: Final = RiichiWin(han=12)


def session(steps: Callable[[RiichiSitting], object], form: RiichiForm | None = None) -> ScreenView:
    """Show a session after these actions, with the longest names."""
    given = session_plan()
    planned = msgspec.structs.replace(given.session, players=named(LONG).players)  # type: ignore[type-var]  # it has one
    sitting = RiichiSitting(msgspec.structs.replace(given, session=planned))
    sitting.begin()
    steps(sitting)
    return replace(seen(sitting), riichi=session_view(sitting.table, sitting.session, form, "always"))


def alone(steps: Callable[[AloneSitting], object], form: RiichiForm | None = None, *, begun: bool = True) -> ScreenView:
    """Show a planned deal after these actions, with Chinese names."""
    sitting = AloneSitting(named(CHINESE))
    sitting.begin() if begun else sitting.restore()
    steps(sitting)
    return replace(seen(sitting), riichi=planned_riichi_view(sitting.table, form))


def ron(sitting: RiichiSitting | AloneSitting) -> None:
    """Bring the table to two ron on North's tile."""
    sitting.declare("south", "west")
    sitting.tell("ron", wins={"south": fu30(3), "west": RiichiWin(yakuman=2)}, loser="north")


def asking(sitting: AloneSitting) -> None:
    """Bring the table to where two seats have declared tenpai."""
    sitting.draw()
    sitting.press("east", "north")


def drawn(sitting: AloneSitting) -> None:
    """Bring the table to the record of a drawn hand."""
    asking(sitting)
    sitting.tell("draw")
    sitting.press(*SEATS)


OPEN_HAND: Final = RiichiValue(
    han=8,
    fu=80,
    yakuman=0,
    yaku=tuple(
        CountedYaku(id=one, han=han)
        for one, han in (
            ("yakuhai_white", 1),
            ("yakuhai_green", 1),
            ("seat_wind_east", 1),
            ("round_wind_east", 1),
            ("toitoi", 2),
            ("honroutou", 2),
        )
    ),
    items=tuple(
        CountedFu(id=one, fu=fu)
        for one, fu in (
            ("winning", 20),
            ("closed_kan_of_orphans", 32),
            ("open_kan_of_orphans", 16),
            ("open_pon_of_orphans", 4),
            ("open_pon_of_orphans", 4),
        )
    ),
)


YAKUMAN: Final = RiichiValue(
    han=26, fu=30, yakuman=2, yaku=(CountedYaku(id="suuankou_tanki", han=26, yakuman=2),), items=OPEN_HAND.items
)


def counting(
    shown: ScreenView, table: Table, seen_: HandObservation, answer: AnyCountAnswer | None = None, *keys: str
) -> ScreenView:
    """Show South's hand while it is counted."""
    assert table.play is not None
    now = replace(begin_counting(Winner(table.play, "south"), table), observation=seen_)
    for key in keys:
        now = replace(now, win=now.win.press(key, now.observation, now.winner))
    request = CountRequest(id="r", event="e", table=1, round=1, deal=1, seat="south", groups=((1,), (2,)))
    count = CountingView(replace(now, request=request if answer else None, answer=answer))
    return with_counting(shown, count, None)


def counted_in_session(
    seen_: HandObservation, answer: AnyCountAnswer | None = None, *keys: str, rules: str | None = None
) -> ScreenView:
    """Show a session in which South has won in riichi, on request by rules with every question."""
    sitting = RiichiSitting(session_plan(profile="riichi-club" if rules else "riichi-montreal", rules=rules))
    sitting.begin()
    sitting.take(DepositLaid(at=sitting.wait(), seat="south", laid=True))
    sitting.declare("south")
    shown = replace(seen(sitting), riichi=session_view(sitting.table, sitting.session, WinForm(("south",)), "always"))
    return counting(shown, sitting.table, seen_, answer, *keys)


def counted_alone(seen_: HandObservation, answer: AnyCountAnswer | None = None, *keys: str) -> ScreenView:
    """Show a planned deal that South has won."""
    sitting = AloneSitting(named(CHINESE))
    sitting.begin()
    sitting.declare("south")
    shown = replace(seen(sitting), riichi=planned_riichi_view(sitting.table, WinForm(("south",))))
    return counting(shown, sitting.table, seen_, answer, *keys)


def every_question() -> str:
    """Return the club's rules with red fives and open riichi."""
    text = (files("broker.rules.riichi") / "profiles/riichi-montreal.toml").read_text(encoding="utf-8")
    text = text.replace('id = "riichi-montreal"', 'id = "riichi-club"')
    return text.replace("[hand.red_fives]\nvalue = false", "[hand.red_fives]\nvalue = true")


def laid(*groups: int, under: tuple[int, ...] = ()) -> HandObservation:
    """Return an observation of groups of these sizes in one row, and others in a row below it."""
    serials = iter(range(1, 137))
    all_ = tuple(tuple(next(serials) for _ in range(many)) for many in (*groups, *under))
    return replace(sight(all_), rows=(len(groups), len(under)) if under else (len(groups),))


RIICHI: Final[dict[str, Callable[[], ScreenView]]] = {
    "riichi session, who discarded": lambda: session(
        lambda table: table.declare("south"), WinForm(("south",), wins=(MOST,), asked="discarder", live_kan=True)
    ),
    "riichi session, whose live kan": lambda: session(
        lambda table: table.declare("south"), WinForm(("south",), wins=(MOST,), asked="live_kan")
    ),
    "riichi session, whose fault depends": lambda: session(
        lambda _: None, RiichiQuestion("dependent", seats=("south", "west", "north"), chosen=("west",))
    ),
    "riichi session, whose fault": lambda: session(lambda _: None, RiichiQuestion("fault", seats=("south",))),
    "riichi session, whose yakuman was spoilt": lambda: session(
        lambda _: None, RiichiQuestion("spoilt", seats=("south",), spoilt=("west",))
    ),
    "riichi session, accepting": lambda: session(ron),
    "riichi deal, confirming": lambda: alone(lambda _: None, begun=False),
    "riichi deal, playing": lambda: alone(lambda _: None),
    "riichi deal, nobody won": lambda: alone(lambda table: table.take(PlayEndedDrawn(at=table.wait()))),
    "riichi deal, why broken off": lambda: alone(lambda _: None, RiichiQuestion("abort")),
    "riichi deal, han": lambda: alone(
        lambda table: table.declare("south", "west"),
        WinForm(("south", "west"), wins=(MOST,), digits="12", tiles=("north", "north")),
    ),
    "riichi deal, tenpai": lambda: alone(asking),
    "riichi deal, accepting": lambda: alone(ron),
    "riichi deal, recorded": lambda: alone(drawn),
    "riichi count, nothing in view": lambda: counted_in_session(HandObservation()),
    "riichi count, every question": lambda: counted_in_session(
        laid(7, 4, 4, 1, under=(3, 3)), None, *"tgggpmii", rules=every_question()
    ),
    "riichi count, a planned deal": lambda: counted_alone(laid(13, 1), None, "t", "i", "j"),
    "riichi count, value": lambda: counted_in_session(laid(13, 1), OPEN_HAND),
    "riichi count, yakuman": lambda: counted_alone(laid(13, 1), YAKUMAN),
    "riichi count, no yaku": lambda: counted_in_session(laid(13, 1), NotCounted(code="no_yaku")),
}

ALL_SCENES: Final = {**SCENES, **RIICHI}
