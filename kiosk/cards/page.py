"""A card as PDF, always one A4 page: pictures drawn by the screens with their sentences, then further advice."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import cv2
import numpy as np
import pygame
from PIL import Image
from reportlab import rl_config
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph

from broker.i18n import N_, Message, Translator
from broker.protocol import SEATS, PlannedPlay, RiichiEvent, RiichiWin, Seat
from kiosk.camera import observations, overlay
from kiosk.errors import BadConfiguration
from kiosk.input import Form
from kiosk.practice import deals, hands
from kiosk.restoring import Restoring, with_observation
from kiosk.screens import (
    CHINESE_FONT_HINT,
    HAN_LANGUAGES,
    AcceptingView,
    DeclaredView,
    PlayingView,
    PlayView,
    RecordedView,
    RestoringView,
    ResultView,
    ScreenView,
    SeatingView,
    SessionView,
    StatusLine,
    TableScreen,
    chinese_font,
)
from kiosk.table import Misplaced, TrayProblem, Work, events, place_by_serial, serial_by_place, work_after_look
from vision import geometry, reader, reading
from vision.sim import scene, table

rl_config.useA85 = False  # ASCII streams were for old printers, and take longer

MARGIN: Final = 14 * mm
GAP: Final = 8 * mm
WIDTH: Final = (A4[0] - 2 * MARGIN - GAP) / 2

SIZE: Final = (1000, 600)
"""Size of a picture in pixels: 290 per inch when printed."""

HEIGHT: Final = WIDTH * SIZE[1] / SIZE[0]
FEW_PICTURES: Final = 4
"""Up to this many pictures leave room for larger letters."""


@dataclass(frozen=True, slots=True)
class Card:
    """One card."""

    name: str
    title: Message
    pictures: tuple[tuple[Message, ScreenView | Callable[[], ScreenView]], ...]
    """Pictures in the order of a play; those that take time to draw are made on demand."""
    advice: tuple[Message, ...]


def card_page(card: Card, _: Translator) -> bytes:
    """Return the page. Raises BadConfiguration if there is no font for the language."""
    file = io.BytesIO()
    canvas = Canvas(file, pagesize=A4, invariant=1, lang=_.language)
    canvas.setTitle(_(card.title))
    plain, bold = _fonts(_.language)
    size, room = (13.5, 42 * mm) if len(card.pictures) <= FEW_PICTURES else (11, 22.5 * mm)
    title = ParagraphStyle("title", fontName=bold, fontSize=20, leading=24)
    wrapping = "CJK" if _.language[:2] in HAN_LANGUAGES else None
    text = ParagraphStyle("text", fontName=plain, fontSize=size, leading=size * 1.3, wordWrap=wrapping)
    y = A4[1] - MARGIN - _write(canvas, _(card.title), title, (MARGIN, A4[1] - MARGIN))
    y -= 5 * mm
    for at, (sentence, shown) in enumerate(card.pictures):
        x, top = MARGIN + at % 2 * (WIDTH + GAP), y - at // 2 * (HEIGHT + room)
        canvas.drawImage(_picture(_, shown() if callable(shown) else shown), x, top - HEIGHT, WIDTH, HEIGHT)
        _write(canvas, f"<b>{at + 1}</b>  {_(sentence)}", text, (x, top - HEIGHT - 1.5 * mm), WIDTH)
    y -= -(-len(card.pictures) // 2) * (HEIGHT + room)
    for sentence in card.advice:
        y -= _write(canvas, _(sentence), text, (MARGIN, y)) + 2 * mm
    canvas.showPage()
    canvas.save()
    return file.getvalue()


def _write(
    canvas: Canvas, text: str, style: ParagraphStyle, at: tuple[float, float], width: float = A4[0] - 2 * MARGIN
) -> float:
    """Write a paragraph below a point, and return its height."""
    paragraph = Paragraph(text, style)
    _, height = paragraph.wrap(width, A4[1])
    paragraph.drawOn(canvas, at[0], at[1] - height)
    return float(height)


def _picture(_: Translator, shown: ScreenView) -> ImageReader:
    pygame.font.init()
    surface = pygame.Surface(SIZE)
    TableScreen(_, SIZE).draw(surface, shown)
    return ImageReader(Image.frombytes("RGB", SIZE, pygame.image.tobytes(surface, "RGB")))


@cache
def _fonts(language: str) -> tuple[str, str]:
    """Return the names of a plain and a bold font with the language's letters; both are embedded in the file."""
    if language[:2] not in HAN_LANGUAGES:
        for name, file in (("Vera", "Vera.ttf"), ("VeraBd", "VeraBd.ttf")):
            pdfmetrics.registerFont(TTFont(name, file))
        pdfmetrics.registerFontFamily("Vera", normal="Vera", bold="VeraBd", italic="Vera", boldItalic="VeraBd")
        return "Vera", "VeraBd"
    if (path := chinese_font()) is None:
        raise BadConfiguration(CHINESE_FONT_HINT.format(language=language))
    pdfmetrics.registerFont(TTFont("Han", str(path)))
    pdfmetrics.registerFontFamily("Han", normal="Han", bold="Han", italic="Han", boldItalic="Han")
    return "Han", "Han"


PLAYERS: Final[dict[Seat, str]] = {"east": "Ada", "south": "Bo", "west": "Chen", "north": "Dina"}

PLAYING: Final = ScreenView(
    3,
    PlayingView(),
    StatusLine(up=True, clock="14:05"),
    play=PlayView(round=2, deal=7, prevalent_wind="east", players=PLAYERS, winds={seat: seat for seat in SEATS}),
)
CONFIRMING: Final = replace(PLAYING, phase=SeatingView("confirming", frozenset[Seat](("east", "north"))))
VALUE: Final = replace(PLAYING, phase=DeclaredView(("west",), Form(("west",), digits="18", least=8)))

WON: Final = ResultView("discard", {"west": 18}, "north", {"east": -8, "south": -8, "west": 42, "north": -26})
RESULT: Final = replace(PLAYING, phase=AcceptingView(WON, frozenset[Seat](("east", "west"))))
RECORDED: Final = replace(PLAYING, phase=RecordedView(WON, frozenset(SEATS)))


def heap_scene() -> ScreenView:
    """Return a scene of tipped-out tiles, each with its seat."""
    play = deals.practice_plan().plays[1]
    lying = tuple(observations.SeenTile(one.tile.serial) for one in hands.tipped_out_tiles(play, 0))
    restoring = with_observation(
        Restoring(),
        observations.TableObservation(
            in_view=lying, view=observations.CameraView(1, drawn_heap(play, 0, observations.picture_room(SIZE)))
        ),
        "",
    )
    return replace(PLAYING, phase=RestoringView(Work(), play.order, restoring))


def tray_fault_scene() -> ScreenView:
    """Return a scene of a tray with two tiles exchanged."""
    order = deals.practice_plan().plays[1].order
    first, second, third = ([*row] for row in order["west"])
    wrong = Misplaced(kind="swapped", row=1, col=4, expected=second[4], found=third[0], other=(2, 0))
    second[4], third[0] = third[0], second[4]
    look = events.TrayChecked(at=0, seat="west", rows=((*first,), (*second,), (*third,)), wrong=(wrong,))
    work = work_after_look(Work(), look, serial_by_place(order), right=False)
    return replace(PLAYING, phase=RestoringView(work, order, check=TrayProblem("west", (wrong,))))


STAFF_CARD: Final = Card(
    "staff",
    N_("For table staff"),
    (
        (
            N_(
                "Spread the tiles out face down: the screen shows each tile’s seat. Make four piles, then spread "
                "each pile to see row and place. Or scan the tiles."
            ),
            heap_scene,
        ),
        (
            N_(
                "Put each tray under the camera and take your hands away. A correct tray gets a tick; otherwise "
                "make the one move shown, then the next."
            ),
            tray_fault_scene,
        ),
        (
            N_(
                "Bring each tray to its seat. Each player checks the serial numbers, then presses and releases "
                "their own button."
            ),
            CONFIRMING,
        ),
        (N_("Stay away and keep quiet. Nothing shows who has pressed."), PLAYING),
        (
            N_(
                "The seats marked hu show their hands. Enter the value, then who discarded. "
                "False hu: only with the arbiter."
            ),
            VALUE,
        ),
        (
            N_("When all four have accepted, the result is recorded. Mix the tiles face down, then touch Next deal."),
            RECORDED,
        ),
    ),
    (
        N_(
            "<b>Take your seats</b> (before the first play and when players change): each player presses at their "
            "own name."
        ),
        N_("<b>Offline?</b> Keep playing. Nothing is lost; results arrive later."),
        N_("<b>A cable is out?</b> Plug it back in at any time; it works again within two seconds."),
        N_("<b>The screen is black?</b> Switch the power off and on: the table continues where it was."),
        N_("<b>Anything else?</b> Touch Call the arbiter."),
    ),
)

SEATING: Final = replace(PLAYING, phase=SeatingView("seating", frozenset[Seat](("south", "north"))))

DECLARED: Final = replace(PLAYING, phase=DeclaredView(("west",), Form(("west",), least=8)))

NOBODY: Final = replace(PLAYING, phase=PlayingView(ended=True))

PLAYERS_CARD: Final = Card(
    "players",
    N_("For the player"),
    (
        (
            N_("Is your name at your seat? Press and release your button. If it is at another seat, change places."),
            SEATING,
        ),
        (
            N_("Look at the serial numbers, not the faces. Are your 34 tiles in order? Press and release your button."),
            CONFIRMING,
        ),
        (
            N_(
                "Hu: press and release your button. Stay silent and do not show your hand. Everyone who presses in "
                "the claim window, three seconds, has declared."
            ),
            PLAYING,
        ),
        (N_("<b>Nobody won?</b> Touch Wall empty, no hu. Whoever has won presses now."), NOBODY),
        (
            N_("Then the screen marks who has declared. They show their hands; the others keep theirs hidden."),
            DECLARED,
        ),
        (
            N_(
                "Check value, discarder and points, then press to accept. Nobody can accept for you, and waiting "
                "does not count as accepting."
            ),
            RESULT,
        ),
    ),
    (
        N_(
            "<b>Want to call without the others knowing?</b> Hold your button for two seconds: the arbiter comes. "
            "This does not declare hu or accept anything."
        ),
        N_("<b>A false hu</b> costs you 4 or 8 IMP, as the arbiter decides; nobody else’s points change."),
        N_("<b>Anything else?</b> Touch Call the arbiter."),
    ),
)

SESSION: Final = SessionView(
    dealer=2,
    counters=1,
    deposits=1,
    scores={"east": 25_000, "south": 28_900, "west": 21_100, "north": 24_000},
    riichi=("north",),
)
RIICHI_SEATING: Final = replace(
    CONFIRMING,
    riichi=replace(SESSION, dealer=1, counters=0, deposits=0, riichi=(), scores=dict.fromkeys(SEATS, 25_000)),
)
RIICHI_PLAYING: Final = replace(PLAYING, riichi=SESSION)
RIICHI_TENPAI: Final = replace(
    PLAYING, phase=DeclaredView(), riichi=replace(SESSION, asks_tenpai=True, tenpai=frozenset[Seat](("east", "north")))
)
RIICHI_RESULT: Final = replace(
    PLAYING,
    phase=AcceptingView(marked=frozenset[Seat](("south",))),
    riichi=replace(
        SESSION,
        ending=RiichiEvent(kind="ron", wins={"south": RiichiWin(han=3, fu=30)}, loser="west"),
        paid={"south": 5_200, "west": -4_200},
    ),
)

RIICHI_CARD: Final = Card(
    "riichi",
    N_("For the player, riichi"),
    (
        (N_("Take your seat and press your button. East deals first."), RIICHI_SEATING),
        (
            N_(
                "Won, by ron or tsumo? Press your button silently. Riichi: say it, discard, and hold the button "
                "for two seconds; your deposit shows at once."
            ),
            RIICHI_PLAYING,
        ),
        (
            N_("Nobody won: touch it on the screen. Then press if you are tenpai; press again if you are not."),
            RIICHI_TENPAI,
        ),
        (
            N_(
                "Your seat shows what you get or pay, in sticks. Pay, then press if it is right. Nobody can accept "
                "for you."
            ),
            RIICHI_RESULT,
        ),
    ),
    (
        N_("<b>Next hand</b>, an error, the end: touch it on the screen when the hand is recorded."),
        N_("<b>Offline?</b> Keep playing. Nothing is lost; results arrive later."),
        N_("<b>Anything else?</b> Touch Call the arbiter."),
    ),
)

CARDS: Final = (STAFF_CARD, PLAYERS_CARD, RIICHI_CARD)


def drawn_heap(play: PlannedPlay, number: int, size: tuple[int, int] = observations.DEFAULT_VIEW) -> geometry.Picture:
    """Return a picture (BGR) of a play's tiles, tipped out for the `number`-th time, with their destinations.

    `size` (width, height) is the largest size in pixels.
    """
    tiles = tuple(hands.tipped_out_tiles(play, number))
    reads = tuple(
        reading.TileRead(one.tile.serial, f"{play.set:02d}", _corners(one), 1.0, one.turn, None, None, None)
        for one in tiles
    )
    ground = scene.draw_table(table.CameraView(loose=tiles), seed=1)
    view = overlay.HeapOverlay(
        ground, reading.PictureReading(reads, ()), place_by_serial(serial_by_place(play.order)), size
    )
    return view.on(ground, [True for _ in reads])


def _corners(tile: table.LooseTile) -> reading.Corners:
    """Return the corners of a tile in pixels."""
    x, y = (scene.SCALE * at for at in tile.at)
    box = geometry.rectangle(np.array([x, y]), *(scene.SCALE * side for side in scene.TILE))
    turned = cv2.transform(box[None], cv2.getRotationMatrix2D((x, y), -tile.turn, 1.0))
    return reader.quad_corners(np.asarray(turned[0]))
