"""Scenes of a winner's hand that is counted from the backs."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from broker.protocol import AnyCountAnswer, CountedFan, CountRequest, McrValue, NotCounted
from kiosk.camera.observations import CameraView, HandObservation, SeenTile, Winner
from kiosk.counting.desk import CountingView, HandCounting
from kiosk.counting.questions import HandAnswers, McrQuestions
from kiosk.input import Form
from kiosk.screens import ScreenView, StatusLine, screen_view, with_counting
from kiosk.table import Phase
from tests.kiosk.tables import EVENT, TABLE, sitting_in

Groups = tuple[tuple[int, ...], ...]


def dealt(seat: str = "west") -> tuple[int, ...]:
    """Return a seat's serials: the hand, then the wall."""
    play = sitting_in(Phase.DECLARED).play
    return tuple(serial for row in play.order[seat] for serial in row)  # type: ignore[index]  # a seat's name


def with_melds() -> Groups:
    """Seven concealed tiles, a claimed chow, a claimed kong, and a tile of East's."""
    own, south, east = dealt(), dealt("south"), dealt("east")
    return own[:7], (*own[7:9], south[20]), (*own[9:12], south[21]), (east[30],)


def self_drawn_late() -> Groups:
    """Thirteen concealed tiles, and the last of the own wall."""
    own = dealt()
    return own[:13], (own[33],)


def drawn() -> np.ndarray:
    """Return a picture that resembles a mat."""
    ground = np.full((300, 520, 3), (58, 72, 34), dtype=np.uint8)
    for at in range(14):
        ground[60 + 110 * (at // 8) : 130 + 110 * (at // 8), 20 + 60 * (at % 8) : 70 + 60 * (at % 8)] = (98, 140, 90)
    return ground


def sight(groups: Groups, *, still: bool = True) -> HandObservation:
    """Return the camera's observation of a hand."""
    tiles = tuple(tuple(SeenTile(serial) for serial in group) for group in groups)
    return HandObservation(tiles, still, CameraView(1, drawn()))


def with_kongs() -> Groups:
    """Four kongs of any tiles, and a pair."""
    own = dealt()
    return own[:1], own[1:5], own[5:9], own[9:13], own[13:17], own[17:18]


def counted(
    now: HandObservation,
    answer: AnyCountAnswer | None = None,
    *,
    asked: bool = False,
    silent: bool = False,
    win: McrQuestions = McrQuestions(last_tile=True),  # noqa: B008 - frozen
    problem: str | None = None,
) -> ScreenView:
    """Return the view of West's hand."""
    sitting = sitting_in(Phase.DECLARED)
    winner = Winner(sitting.play, "west")
    request = CountRequest(
        id="request-1", event=EVENT, table=TABLE, round=1, deal=1, seat="west", groups=self_drawn_late()
    )
    counting = HandCounting(winner, win, now, request=request if asked or answer else None, answer=answer)
    seen = screen_view(TABLE, sitting.table, Form(("west", "north")), StatusLine(up=True, clock="14:05"), problem)
    return with_counting(seen, CountingView(counting, silent=silent), None)


def value(*fan: tuple[str, int], minimum: int = 8) -> McrValue:
    """Return an answer."""
    elements = tuple(CountedFan(id=name, fan=worth) for name, worth in fan)
    return McrValue(fan=sum(worth for _, worth in fan), minimum=minimum, elements=elements)


LONG: Final = value(
    ("three_concealed_pungs", 16),
    ("all_types", 6),
    ("out_with_replacement_tile", 8),
    ("fully_concealed_hand", 4),
    ("two_concealed_kongs", 8),
    ("dragon_pung", 2),
    ("prevalent_wind", 2),
    ("seat_wind", 2),
    ("single_wait", 1),
    ("pung_of_terminals_or_honors", 1),
    ("pung_of_terminals_or_honors", 1),
    ("one_voided_suit", 1),
)

GREATEST: Final = value(
    ("big_four_winds", 88),
    ("four_kongs", 88),
    ("all_honors", 64),
    ("four_concealed_pungs", 64),
    ("out_with_replacement_tile", 8),
    ("fully_concealed_hand", 4),
)

COUNTING: Final[dict[str, Callable[[], ScreenView]]] = {
    "count, nothing in view": lambda: counted(HandObservation()),
    "count, one unread": lambda: counted(
        replace(
            sight(self_drawn_late()), groups=((SeenTile(None), *map(SeenTile, dealt()[1:13])), (SeenTile(dealt()[33]),))
        )
    ),
    "count, winning tile not apart": lambda: counted(sight((dealt()[:13], dealt()[32:34]))),
    "count, melds": lambda: counted(sight(with_melds())),
    "count, last tile": lambda: counted(sight(self_drawn_late())),
    "count, moving": lambda: counted(sight(self_drawn_late(), still=False)),
    "count, asked": lambda: counted(sight(self_drawn_late()), asked=True),
    "count, silent": lambda: counted(sight(self_drawn_late()), asked=True, silent=True),
    "count, foreign": lambda: counted(replace(sight(()), groups=((SeenTile(5, foreign=True),),))),
    "count, one missing": lambda: counted(sight((dealt()[:12], dealt()[33:34]))),
    "count, walls ticked": lambda: counted(HandObservation(), win=McrQuestions(HandAnswers())),
    "count, walls ticked, unsaid": lambda: counted(
        sight((dealt()[:13], dealt()[13:14])), win=McrQuestions(HandAnswers())
    ),
    "count, walls ticked, kongs": lambda: counted(
        sight(with_kongs()),
        win=McrQuestions(HandAnswers(self_drawn=True, concealed=frozenset({2, 3}))),
        problem="camera_reads",
    ),
    "count, counted too often": lambda: counted(sight(with_melds()), NotCounted(code="counted_too_often")),
    "count, 316 fan": lambda: counted(sight(with_melds()), GREATEST),
    "count, value": lambda: counted(sight(with_melds()), value(("seven_pairs", 24), ("last_tile_draw", 8))),
    "count, many fan": lambda: counted(sight(with_melds()), LONG),
    "count, under the minimum": lambda: counted(sight(with_melds()), value(("all_pungs", 6), ("self_drawn", 1))),
    "count, no hand": lambda: counted(sight(with_melds()), NotCounted(code="not_winning")),
}
