"""Scenes of the table's screen, with names that break layouts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Final, get_args

import cv2
import msgspec
import numpy as np

from broker.protocol import (
    SEATS,
    CarrierCode,
    Command,
    NextSeat,
    PlannedPlay,
    Player,
    Seat,
    carrier_code_text,
    receipt_link,
)
from firmware.reports import NotScanned, Scanned
from kiosk.camera.observations import CameraView, SeenTile, TableObservation
from kiosk.cards.page import drawn_heap
from kiosk.input import REASONS, ArbiterPanel, Form
from kiosk.input.panel import Act, PanelStep, opened_panel
from kiosk.input.what_happened import press_scene_key
from kiosk.practice import hands
from kiosk.restoring import Restoring, Scans, TrayRun, with_observation, with_scan
from kiosk.screens import (
    CallView,
    ElsewhereView,
    PlayingView,
    ScreenView,
    StatusLine,
    screen_view,
    stopped_view,
    with_receipt,
)
from kiosk.screens.views import IdleView, RecordedView, TimeView
from kiosk.table import Doubt, Misplaced, Phase
from kiosk.table.events import (
    Assigned,
    PlayEndedDrawn,
    PlayVoided,
    RowTicked,
    TrayChecked,
)
from tests.kiosk.screens.counting_scenes import COUNTING
from tests.kiosk.screens.keeping_scenes import keeping_scenes
from tests.kiosk.screens.pairing_scenes import pairing_scenes
from tests.kiosk.screens.self_test_scenes import SELF_TEST
from tests.kiosk.screens.session_scenes import riichi_scenes
from tests.kiosk.tables import EVENT, TABLE, Sitting, plan, play, right, sitting_in, strange, swapped
from vision.geometry import rectangle
from vision.overlay import COLUMN_WIDTH, ROW_HEIGHT, list_serials
from vision.reader import quad_corners
from vision.reading import PictureReading, TileRead, TrayFaultType
from vision.sim.scene import tile_stamp
from vision.sim.table import SimulatedTile

NOTHING_YET: Final = Restoring()

ONLINE: Final = StatusLine(up=True, clock="14:05", version="0.1.0")
TROUBLED: Final = replace(
    ONLINE, up=False, unsent=128, refused=3, health=("camera: camera_unplugged", "plan: plan_rewrites_past")
)

BROKEN: Final = replace(
    TROUBLED,
    health=(
        "button-east: button_disconnected",
        "button-north: button_stuck",
        "buttons: device_unplugged",
        "camera: camera_unplugged",
        "lamps: device_missing",
        "scanner: device_forbidden",
    ),
)

LONG: Final[dict[Seat, str]] = {
    "east": "Wojciech Brzęczyszczykiewicz-Słowacki",
    "south": "Ouyang Xiuzhu 欧阳修竹",
    "west": "Wolfeschlegelsteinhausenbergerdorff",
    "north": "Élodie Château-Thierry de Montmorency-Laval",
}
CHINESE: Final[dict[Seat, str]] = {"east": "欧阳修竹", "south": "李伟", "west": "王秀英", "north": "司马相如"}
LONGEST: Final[dict[Seat, str]] = {"east": "W" * 100, "south": "龍" * 100, "west": "i" * 100, "north": "x"}


def named(names: dict[Seat, str], round_: int = 1) -> PlannedPlay:
    """Plan a play for players with these names."""
    players = {seat: Player(id=f"p{at + 1:02}", name=names[seat]) for at, seat in enumerate(SEATS)}
    return msgspec.structs.replace(play(round_), players=players, dealer="south", deal=9999, round=999)


def seen(
    sitting: Sitting,
    line: StatusLine = ONLINE,
    form: Form | None = None,
    problem: str | None = None,
    restoring: Restoring = NOTHING_YET,
) -> ScreenView:
    """Return the view of a table."""
    return screen_view(TABLE, sitting.table, form, line, problem, restoring=restoring)


def faults(count: int) -> ScreenView:
    """A tray with every kind of fault that the camera can name, and more."""
    sitting = Sitting(play(1))
    kinds = [kind.value for kind in TrayFaultType]
    wrong = tuple(
        Misplaced(
            kind=kinds[at % len(kinds)],
            row=at % 3,
            col=at % 10,
            expected=100 + at,
            found=130 - at,
            other=((at + 1) % 3, 9 - at % 10),
        )
        for at in range(count)
    )
    rows = sitting.play.order["west"]
    sitting.take(TrayChecked(at=sitting.wait(), seat="west", rows=rows, wrong=wrong))
    return seen(sitting)


def unread(count: int) -> ScreenView:
    """A tray with unread places."""
    sitting = Sitting(play(1))
    hand, *walls = sitting.play.order["north"]
    rows = ((*(None for _ in range(count)), *hand[count:]), *walls)
    sitting.take(TrayChecked(at=sitting.wait(), seat="north", rows=rows))
    return seen(sitting, restoring=Restoring(TableObservation(listed=listed_tiles(rows))))


def listed_tiles(rows: Sequence[Sequence[int | None]]) -> CameraView:
    """List tiles as cut out by the camera; unread ones are out of focus."""
    tiles = [(one, tile_stamp(SimulatedTile(1, one or 1))) for row in rows for one in row]
    stamps = [stamp if one else cv2.blur(stamp, (21, 21)) for one, stamp in tiles]
    height, width = stamps[0].shape[:2]
    quads = [rectangle(np.array([(at + 0.5) * width, height / 2]), width, height) for at in range(len(stamps))]
    reads = (TileRead(one, None, quad_corners(quad), 0.99, 0.0) for (one, _), quad in zip(tiles, quads, strict=True))
    return CameraView(1, list_serials(np.hstack(stamps), PictureReading((*reads,), ()), 13 * COLUMN_WIDTH)[:ROW_HEIGHT])


def half_restored() -> ScreenView:
    sitting = Sitting(play(1))
    sitting.restore(["east", "north"])
    sitting.take(swapped(sitting.play, "south", sitting.wait()))
    return seen(sitting)


def across(*, covered: int = 0) -> ScreenView:
    """Two trays whose first tiles are exchanged, after another move was done."""
    sitting = Sitting(named(LONG))
    trays = sitting.play.order
    (east, *hand), *walls = trays["east"]
    (west, *others), *more = trays["west"]
    strange = Misplaced(kind="wrong-hand", row=0, col=0, expected=1, found=2)
    sitting.restore(["south", "north"])
    sitting.take(TrayChecked(at=sitting.wait(), seat="west", rows=((east, *others), *more), wrong=(strange,)))
    sitting.take(TrayChecked(at=sitting.wait(), seat="east", rows=((west, *hand), *walls), wrong=(strange,)))
    sitting.table = replace(sitting.table, work=replace(sitting.table.work, last_move_done=True))
    return seen(sitting, restoring=Restoring(TableObservation(covered)))


def beside() -> ScreenView:
    """An empty place whose tile lies beside the tray."""
    sitting = Sitting(play(1))
    (first, *hand), *walls = sitting.play.order["north"]
    gap = Misplaced(kind="missing", row=0, col=0, expected=first)
    sitting.take(TrayChecked(at=sitting.wait(), seat="north", rows=((None, *hand), *walls), wrong=(gap,)))
    return seen(sitting, restoring=with_observation(Restoring(), TableObservation(in_view=(SeenTile(first),)), EVENT))


def heap(*, pile: Seat | None = None, trouble: bool = False, seen_all: bool = False) -> ScreenView:
    """A heap, or a pile of one seat, under the camera."""
    sitting = Sitting(play(1))
    turned_out = 4 + SEATS.index(pile) if pile else 0
    serials = [one.tile.serial for one in hands.tipped_out_tiles(sitting.play, turned_out)]
    strange = (SeenTile(None, face_up=True), SeenTile(None, foreign=True), *[SeenTile(None)] * 12) if trouble else ()
    observation = TableObservation(
        in_view=(*map(SeenTile, serials), *strange), view=CameraView(1, drawn_heap(sitting.play, turned_out))
    )
    restoring = with_observation(Restoring(), observation, EVENT)
    most = range(1, 137) if seen_all else range(13, 137)
    return seen(sitting, restoring=replace(restoring, heap=replace(restoring.heap, seen=frozenset(most))))


def scanning(*serials: int, run: TrayRun | None = None, code: str | None = None, set_text: str = "01") -> ScreenView:
    sitting, restoring = Sitting(play(1)), replace(Restoring(), scans=Scans(run=run))
    for serial in serials:
        restoring = with_scan(restoring, Scanned(serial, set_text, 1), sitting.play, EVENT)
    if code:
        restoring = with_scan(restoring, NotScanned(code, "4006381333931", 1), sitting.play, EVENT)
    return seen(sitting, restoring=restoring)


def ticking(*rows: int, problem: str | None = None) -> ScreenView:
    sitting = Sitting(play(1))
    for row in rows:
        sitting.take(RowTicked(at=sitting.wait(), seat="east", row=row))
    return seen(sitting, restoring=replace(Restoring(), showing="hand"), problem=problem)


def another_carrier() -> ScreenView:
    sitting = Sitting(play(1), play(2, deal=9999))
    sitting.take(right(play(2), "south", sitting.wait()))
    return seen(sitting)


def strange_carrier(*, foreign: bool = False, unread: int = 0, asked: bool = False) -> ScreenView:
    """A tray of no deal known here, of this set or of another."""
    sitting = Sitting(named(LONG))
    sitting.take(strange(sitting.play, "east", sitting.wait(), foreign=foreign, unread=unread))
    return seen(sitting, restoring=Restoring(showing="anew" if asked else "camera"))


def sheet(event: str, deal: int) -> ScreenView:
    """A scanned carrier's sheet."""
    sitting = Sitting(named(LONG))
    report = NotScanned("scan_unknown", carrier_code_text(CarrierCode(event, deal)), 1)
    return seen(sitting, restoring=with_scan(Restoring(), report, sitting.play, EVENT))


def had_before(deal: int = 1, repeats: tuple[str, ...] = ()) -> Sitting:
    """A second play of a deal that the table, or players with long names, had before."""
    sitting = Sitting(play(1))
    sitting.begin()
    sitting.draw()
    sitting.press(*SEATS)
    second = msgspec.structs.replace(named(LONG, 2), round=2, deal=deal)
    longer = msgspec.structs.replace(plan(play(1), second), repeats={2: repeats})
    sitting.take(Assigned(at=sitting.wait(), assignment=longer))
    sitting.next_deal()
    return sitting


def half_seated() -> ScreenView:
    sitting = Sitting(named(LONG))
    sitting.lay()
    sitting.press("south", "north")
    return seen(sitting)


def ruling(panel: ArbiterPanel, phase: Phase = Phase.PLAYING, problem: str | None = None) -> ScreenView:
    """The arbiter's panel at a table."""
    return screen_view(TABLE, sitting_in(phase).table, None, ONLINE, problem, panel)


def infraction(ask: PanelStep, page: int = 0) -> ScreenView:
    """West's infraction, from the catalogue of the rules here."""
    panel = opened_panel(sitting_in(Phase.PLAYING).table)
    return ruling(replace(panel, ask=ask, act="infraction", seats=("west",), page=page, offence=2))


def scene(*keys: str) -> ScreenView:
    """The questions to the rules at the panel, after these keys."""
    panel = opened_panel(sitting_in(Phase.PLAYING).table)
    assert panel.scene
    return ruling(replace(panel, ask="scene", act="what_happened", scene=reduce(press_scene_key, keys, panel.scene)))


WALLS = ("9", "enter", "1", "0", "enter", "1", "1", "enter", "1", "2", "enter")


def void() -> ScreenView:
    sitting = Sitting(named(LONG))
    sitting.begin()
    sitting.admit()
    sitting.take(PlayVoided(at=sitting.wait(), reason="why"))
    return seen(sitting)


ALL_ACTS: Final[tuple[Act, ...]] = tuple(
    act for act in get_args(Act) if act not in {"resume", "self_test", "reopen", "forward"}
)
"""More rulings than there ever are at once."""


def half_confirmed() -> ScreenView:
    sitting = sitting_in(Phase.CONFIRMING)
    sitting.press("east", "west")
    return seen(sitting)


def fined(line: StatusLine = ONLINE) -> ScreenView:
    sitting = Sitting(named(LONG))
    sitting.declare("south")
    sitting.false_hu("south")
    return seen(sitting, line)


def entering(form: Form, problem: str | None = None, names: dict[Seat, str] = LONG) -> ScreenView:
    sitting = Sitting(named(names))
    sitting.declare(*form.declared)
    return seen(sitting, form=form, problem=problem)


def one_value() -> ScreenView:
    sitting = Sitting(play(4, deal=7, dealer="west"))
    sitting.declare("west")
    return seen(sitting, form=Form(("west",), digits="18", least=8))


def result(*accepting: Seat, names: dict[Seat, str] = LONG) -> ScreenView:
    """Three winners after a false hu, the widest possible result."""
    sitting = Sitting(named(names))
    sitting.declare("east")
    sitting.false_hu("east")
    sitting.declare("south", "west", "north")
    sitting.value("east", south=999, west=888, north=88)
    sitting.press(*accepting)
    return seen(sitting)


def onward(now: ScreenView, *, later: bool = False) -> ScreenView:
    """Assign the players their next seats: one stays, one has no further play, two move to other tables."""
    next_round = (now.play.round if now.play else 0) + (2 if later else 1)
    seats = {seat: NextSeat(round=next_round, table=table, seat=to) for seat, table, to in GOING}
    assert isinstance(now.phase, RecordedView)
    return replace(now, phase=replace(now.phase, onward={**seats, "north": None}))


GOING: Final[tuple[tuple[Seat, int, Seat], ...]] = (
    ("east", TABLE, "east"),
    ("south", 128, "west"),
    ("west", 12, "south"),
)


def overtaken() -> ScreenView:
    """West declared on East's discard; South, as nothing showed, drew and declared too."""
    sitting = Sitting(named(LONG))
    sitting.declare("west", "south")
    sitting.value("east", on={"west": "east", "south": "south"}, west=12)
    return seen(sitting)


def small_result(*accepting: Seat) -> ScreenView:
    sitting = Sitting(play(4, deal=7, dealer="west"))
    sitting.declare("west")
    sitting.value("north", west=18)
    sitting.press(*accepting)
    return seen(sitting)


def drawn() -> ScreenView:
    sitting = Sitting(named(CHINESE))
    sitting.begin()
    sitting.draw()
    return seen(sitting)


def self_drawn() -> ScreenView:
    sitting = Sitting(named(CHINESE))
    sitting.declare("north")
    sitting.value(north=88)
    return seen(sitting)


def nobody_won() -> ScreenView:
    sitting = sitting_in(Phase.PLAYING)
    sitting.take(PlayEndedDrawn(at=sitting.wait()))
    return seen(sitting)


def calling() -> ScreenView:
    return replace(seen(sitting_in(Phase.PLAYING), replace(TROUBLED, up=True)), call=CallView())


def ordered(*commands: Command) -> ScreenView:
    sitting = sitting_in(Phase.PLAYING)
    for command in commands:
        sitting.order(command, minutes=60)
    return seen(sitting)


RECEIPT: Final = "WMWM-0Q8K-WMNM-QGWM"
ANCHOR: Final = "DFRB-CMEV-KN1M-YC9Q-G4B1-BZVK-P1P4"
LINK: Final = receipt_link("https://results.example.org", RECEIPT, ANCHOR)
LONG_LINK: Final = receipt_link("https://" + "results." * 5 + "example.org/2026", RECEIPT, ANCHOR)
"""About as large as a QR code can be."""

SCENES: Final[dict[str, Callable[[], ScreenView]]] = {
    **pairing_scenes(ONLINE),
    **SELF_TEST,
    "waiting": lambda: seen(sitting_in(Phase.WAITING)),
    "playing, scorer not heard of": lambda: seen(
        sitting_in(Phase.PLAYING), replace(ONLINE, unsent=12, scorer_silent=True)
    ),
    "waiting, offline": lambda: seen(sitting_in(Phase.WAITING), replace(ONLINE, up=False)),
    "restoring": lambda: seen(sitting_in(Phase.RESTORING)),
    "restoring, half": half_restored,
    "restoring, one fault": lambda: faults(1),
    "restoring, many faults": lambda: faults(12),
    "restoring, unread": lambda: unread(3),
    "restoring, another tray": across,
    "restoring, beside the tray": beside,
    "restoring, print not read": lambda: seen(
        sitting_in(Phase.RESTORING), restoring=Restoring(TableObservation(print_to_blame=True))
    ),
    "restoring, covered": lambda: across(covered=12),
    "restoring, camera reads": lambda: seen(sitting_in(Phase.RESTORING), problem="camera_reads"),
    "restoring, heap": heap,
    "restoring, heap in trouble": lambda: heap(trouble=True),
    "restoring, pile": lambda: heap(pile="south", seen_all=True),
    "restoring, scanned": lambda: scanning(60),
    "restoring, scanned twice": lambda: scanning(136, 136),
    "restoring, scanned in order": lambda: scanning(play(1).order["south"][0][4], run=TrayRun("south", 4)),
    "restoring, scanned astray": lambda: scanning(100, run=TrayRun("south", 33)),
    "restoring, scanned of another set": lambda: scanning(100, set_text="02"),
    "restoring, scanned nothing": lambda: scanning(code="scan_wrong_encoding"),
    "restoring, by hand": lambda: ticking(1),
    "restoring, three are here": lambda: checked_in_meanwhile("west"),
    "restoring, a tray is wrong and three are here": lambda: checked_in_meanwhile("east", wrong=True),
    "restoring, another deal's carrier": another_carrier,
    "restoring, a carrier of no known deal": strange_carrier,
    "restoring, a carrier of no known deal, unread": lambda: strange_carrier(unread=3),
    "restoring, a carrier of no known deal, laid again?": lambda: strange_carrier(asked=True),
    "restoring, a carrier of another set": lambda: strange_carrier(foreign=True),
    "restoring, the right carrier's sheet": lambda: sheet(EVENT, 9999),
    "restoring, another carrier's sheet": lambda: sheet(EVENT, 9998),
    "restoring, another event's sheet": lambda: sheet("spring-open", 9999),
    "restoring, had here before": lambda: seen(had_before()),
    "restoring, somebody had it before": lambda: seen(had_before(deal=9, repeats=("p01", "p03"))),
    "seating": half_seated,
    "confirming": half_confirmed,
    "confirming, longest names": lambda: seen(named_in(LONGEST)),
    "playing": lambda: seen(sitting_in(Phase.PLAYING)),
    "playing, Chinese names": lambda: seen(named_in(CHINESE, Phase.PLAYING)),
    "playing, fined and offline": lambda: fined(TROUBLED),
    "playing, calling": calling,
    "playing, calling, next": lambda: replace(calling(), call=CallView(0), line=ONLINE),
    "playing, calling, after others": lambda: replace(calling(), call=CallView(12)),
    "playing, calling, an arbiter comes": lambda: replace(calling(), call=CallView(arbiter_coming=True), line=ONLINE),
    "another device serves the table": lambda: ScreenView(TABLE, ElsewhereView("restoring"), ONLINE),
    "another device serves the table, this one may be paired again": lambda: ScreenView(
        TABLE, ElsewhereView("restoring", may_pair=True), ONLINE
    ),
    "the broker refuses the device, which may be paired again": lambda: ScreenView(TABLE, IdleView(may_pair=True)),
    "playing, nobody won": nobody_won,
    "arbiter, PIN": lambda: ruling(ArbiterPanel("pin", digits="1234")),
    "arbiter, wrong PIN": lambda: ruling(ArbiterPanel("pin"), Phase.RECORDED, "pin_wrong"),
    "arbiter, PIN locked": lambda: replace(ruling(ArbiterPanel("pin"), Phase.RECORDED, "pin_locked"), pin_wait_s=1920),
    "arbiter, in a play": lambda: ruling(opened_panel(sitting_in(Phase.PLAYING).table)),
    "arbiter, all there is": lambda: ruling(ArbiterPanel("act", ALL_ACTS)),
    "arbiter, minutes": lambda: ruling(ArbiterPanel("minutes", act="extra_time", digits="15")),
    "arbiter, seats": lambda: ruling(ArbiterPanel("seats", act="declared", seats=("south", "north"))),
    "arbiter, fine": lambda: ruling(
        ArbiterPanel("fine", act="false_hu", seats=("west",), fines=(4, 8)), Phase.DECLARED
    ),
    "arbiter, infraction": lambda: infraction("infraction"),
    "arbiter, infraction, more": lambda: infraction("infraction", page=1),
    "arbiter, penalty": lambda: infraction("penalty"),
    "arbiter, what happened, walls": lambda: scene("9", "enter", "1", "2"),
    "arbiter, what happened, turn": lambda: scene(*WALLS),
    "arbiter, what happened, how far": lambda: scene(*WALLS, "s"),
    "arbiter, what happened, who claims": lambda: scene(*WALLS, "s", "1", "w"),
    "arbiter, what happened, what for": lambda: scene(*WALLS, "s", "1", "w", "n", "enter"),
    "arbiter, what happened, sets": lambda: scene(*WALLS, "s", "1", "enter", "2", "w", "n", "k"),
    "arbiter, what happened, answer": lambda: scene(*WALLS, "s", "1", "w", "n", "enter", "1", "3"),
    "arbiter, what happened, more": lambda: scene(*WALLS, "s", "1", "w", "n", "enter", "1", "3", "1"),
    "arbiter, what happened, robbed kong": lambda: scene(*WALLS, "s", "4", "w", "enter", "4"),
    "arbiter, reason": lambda: ruling(ArbiterPanel("reason", act="adjust")),
    "arbiter, sure to void": lambda: ruling(ArbiterPanel("sure", act="void", reason=REASONS[3])),
    "arbiter, sure to take another deal first": lambda: ruling(
        ArbiterPanel("sure", act="forward", reason=REASONS[3]), Phase.RESTORING
    ),
    "playing, card full": lambda: seen(sitting_in(Phase.PLAYING), StatusLine(up=True, health=("disk: journal_full",))),
    "recorded, void": void,
    "playing, paused": lambda: ordered("pause"),
    "playing, time left": lambda: replace(ordered("extra_time"), time=TimeView(42, 60)),
    "playing, time is up": lambda: replace(seen(sitting_in(Phase.PLAYING)), time=TimeView(0)),
    "declared, over time": lambda: replace(one_value(), time=TimeView(-12, 60)),
    "accepting, three winners, over time": lambda: replace(result("east"), time=TimeView(-120)),
    "playing, extra time": lambda: ordered("extra_time"),
    "playing, extra time in a pause": lambda: ordered("pause", "extra_time"),
    "playing, all broken": lambda: seen(sitting_in(Phase.PLAYING), BROKEN),
    "confirming, all broken": lambda: seen(sitting_in(Phase.CONFIRMING), BROKEN),
    "declared, before the form": lambda: seen(sitting_in(Phase.DECLARED)),
    "declared, value": lambda: entering(Form(("west", "east"), least=8, tiles=("north", "north"))),
    "declared, on whose tile": lambda: entering(Form(("west", "east"), tiles=("north",))),
    "declared, on a later tile": lambda: entering(Form(("west", "east"), tiles=("north", "east"))),
    "declared, one value": one_value,
    "declared, refused": lambda: entering(Form(("west",), digits="7", least=8), problem="below_minimum"),
    "declared, three winners": lambda: entering(Form(SEATS[1:], (8, 8), "388", 8, tiles=("east", "east", "east"))),
    "declared, false hu, PIN": lambda: ruling(ArbiterPanel("pin", act="false_hu", seats=("west",)), Phase.DECLARED),
    "declared, discarder": lambda: entering(Form(("west",), (18,)), names=CHINESE),
    "accepting": lambda: small_result("east", "north"),
    "accepting, three winners": lambda: result("east", "south", "west"),
    "accepting, one on a later tile": overtaken,
    "accepting, drawn": drawn,
    "accepting, self-drawn": self_drawn,
    **COUNTING,
    **keeping_scenes(lambda: small_result(*SEATS)),
    "recorded": lambda: small_result(*SEATS),
    "recorded, going elsewhere": lambda: onward(small_result(*SEATS)),
    "recorded, three winners go elsewhere": lambda: onward(with_receipt(result(*SEATS), RECEIPT, LINK, ANCHOR)),
    "recorded, long names go elsewhere later": lambda: onward(result(*SEATS, names=LONGEST), later=True),
    "recorded, in Chinese, going elsewhere": lambda: onward(result(*SEATS, names=CHINESE)),
    "recorded, void, going elsewhere": lambda: onward(void()),
    "recorded, with its receipt": lambda: with_receipt(small_result(*SEATS), RECEIPT, "", ANCHOR),
    "recorded, three winners, with its receipt": lambda: with_receipt(result(*SEATS), RECEIPT, "", ANCHOR),
    "recorded, not yet at the centre": lambda: with_receipt(result(*SEATS), RECEIPT, "", ANCHOR, at_centre=False),
    "recorded, at the centre too": lambda: with_receipt(small_result(*SEATS), RECEIPT, LINK, ANCHOR, at_centre=True),
    "recorded, with its QR code": lambda: with_receipt(small_result(*SEATS), RECEIPT, LINK, ANCHOR),
    "recorded, three winners, with a long QR code": lambda: replace(
        with_receipt(result(*SEATS), RECEIPT, LONG_LINK, ANCHOR, at_centre=True),
        time=TimeView(-120, 60),
        call=CallView(),
    ),
    "finished": lambda: seen(sitting_in(Phase.FINISHED)),
    "playing, did you mean hu": lambda: in_doubt("asked"),
    "playing, in a moment": lambda: in_doubt("leaving"),
    "playing, four hu cannot be": lambda: in_doubt("denied"),
    "program stopped": lambda: stopped_view(TABLE, "program_ended", 1, presses_kept=True),
    "program stopped, again and again": lambda: stopped_view(0, "journal_full", 4, presses_kept=False),
    **riichi_scenes(ONLINE, BROKEN, LONG),
}


def checked_in_meanwhile(*more: Seat, wrong: bool = False) -> ScreenView:
    """Players who check in while trays are still laid."""
    sitting = Sitting(named(LONG))
    sitting.restore(["north"])
    if wrong:
        sitting.take(swapped(sitting.play, "south", sitting.wait()))
    sitting.press("north", "south", *more)
    return seen(sitting)


def in_doubt(doubt: Doubt) -> ScreenView:
    """A play with presses that may not be hu."""
    playing = seen(named_in(LONG, Phase.PLAYING))
    return replace(playing, phase=PlayingView(doubt=doubt), time=TimeView(17))


def named_in(names: dict[Seat, str], phase: Phase = Phase.CONFIRMING) -> Sitting:
    """Return a table of players with these names."""
    sitting = Sitting(named(names))
    sitting.restore()
    if phase is not Phase.CONFIRMING:
        sitting.press(*SEATS)
    return sitting
