"""A sample room in the middle of an event. It includes long names, unusual states and rare results."""

from typing import Final

from msgspec.structs import replace

from broker.halls.centre import HallView
from broker.halls.link import CentreView
from broker.protocol import SEATS, Seat, Standing
from broker.scorer import AlertView, DashboardView, PlayView, SeatView, TableView, ViewFeed

NOON: Final = 1_604_142_000_000
"""31 October 2020, 11:00 UTC, in ms."""

NAMES: Final = {
    "p01": "Marie-Hélène Beauregard-Desrosiers",
    "p02": "欧阳修竹",
    "p03": "Jean-Baptiste Lefèvre",
    "p04": "Anna Lind",
    "p05": "王秀英",
    "p06": "Søren Kjær",
    "p07": "Élodie Château-Thierry de Montmorency-Laval",
    "p08": "李伟",
    "p09": "Tom O’Neill",
    "p10": "Žofie Dvořáková",
    "p11": "司马相如",
    "p12": "Quentin Zulauf",
    "p13": "Inès Ó Súilleabháin",
    "p14": "陈静怡",
    "p15": "Björk Guðmundsdóttir",
    "p16": "Wolfeschlegelsteinhausenbergerdorff",
}


def line(player: str, points: int, imp: int | None, hand_value: int | None = None, fine: int = 0) -> SeatView:
    return SeatView(player=player, name=NAMES[player], points=points, hand_value=hand_value, fine=fine, imp=imp)


def seated(*players: str) -> dict[Seat, str]:
    return {seat: NAMES[player] for seat, player in zip(SEATS, players, strict=True)}


def lines(*of_seats: SeatView) -> dict[Seat, SeatView]:
    return dict(zip(SEATS, of_seats, strict=True))


def table(number: int, *players: str) -> TableView:
    return TableView(
        table=number,
        lifecycle="ready",
        state="playing",
        round=3,
        deal=number + 4,
        unsent=0,
        calling=False,
        health={},
        gaps=(),
        plays_in=2,
        plays_expected=8,
        players=seated(*players) if players else {},
    )


def tables() -> tuple[TableView, ...]:
    return (
        replace(table(1, "p01", "p02", "p03", "p04")),
        replace(table(2, "p05", "p06", "p07", "p08"), state="accepting", calling=True, plays_in=1),
        replace(
            table(3, "p09", "p10", "p11", "p12"), state="restoring", unsent=3, health={"scanner/east": "no answer"}
        ),
        replace(table(4, "p13", "p14", "p15", "p16"), lifecycle="lost", unsent=2, gaps=(14, 15)),
    )


def plays() -> tuple[PlayView, ...]:
    two_winners = PlayView(
        at=NOON + 1_500_000,
        table=1,
        round=2,
        deal=3,
        win="discard",
        discarder="east",
        provisional=False,
        seats=lines(line("p05", -32, -5), line("p02", 36, 5, 12), line("p11", -8, 1), line("p16", 36, 6, 12)),
    )
    false_hu = PlayView(
        at=NOON + 1_380_000,
        table=2,
        round=2,
        deal=4,
        win="discard",
        discarder="north",
        provisional=True,
        seats=lines(line("p01", 42, 3, 18), line("p06", -8, -10, None, 8), line("p15", -8, 0), line("p12", -26, -2)),
    )
    self_drawn = PlayView(
        at=NOON + 1_200_000,
        table=3,
        round=2,
        deal=1,
        win="self_drawn",
        discarder=None,
        provisional=False,
        seats=lines(line("p09", -12, 0), line("p14", -12, -1), line("p07", 34, 4, 10), line("p04", -12, 1)),
    )
    drawn = PlayView(
        at=NOON + 960_000,
        table=4,
        round=1,
        deal=2,
        win="draw",
        discarder=None,
        provisional=True,
        seats=lines(line("p13", 0, 2), line("p10", 0, -2), line("p03", 0, 1), line("p08", 0, 0)),
    )
    huge = PlayView(
        at=NOON + 600_000,
        table=1,
        round=1,
        deal=1,
        win="discard",
        discarder="west",
        provisional=False,
        seats=lines(line("p01", -8, -1), line("p02", 112, 12, 88), line("p03", -96, -11), line("p04", -8, 0)),
    )
    uncompared = PlayView(
        at=NOON + 420_000,
        table=2,
        round=1,
        deal=6,
        win="self_drawn",
        discarder=None,
        provisional=True,
        seats=lines(line("p05", 33, None, 9), line("p06", -11, None), line("p07", -11, None), line("p08", -11, None)),
    )
    first = PlayView(
        at=NOON + 300_000,
        table=3,
        round=1,
        deal=5,
        win="discard",
        discarder="south",
        provisional=False,
        seats=lines(line("p09", -8, 1), line("p10", -16, -3), line("p11", 32, 4, 8), line("p12", -8, -1)),
    )
    return (two_winners, false_hu, self_drawn, drawn, huge, uncompared, first)


def standings() -> tuple[Standing, ...]:
    rows = [
        (1, "p02", 17, 0), (2, "p11", 5, 0), (3, "p07", 4, 0), (3, "p16", 4, 0), (5, "p01", 2, 0), (5, "p13", 2, 0),
        (7, "p03", 1, 0), (7, "p04", 1, 0), (7, "p09", 1, 0), (10, "p15", 0, 0), (10, "p08", 0, 0), (12, "p14", -1, 0),
        (13, "p12", -3, 0), (14, "p05", -5, 0), (14, "p10", -5, 0), (16, "p06", -10, 8),
    ]  # fmt: skip
    return tuple(
        Standing(place=place, player=player, name=NAMES[player], imp=imp, fines=fines, plays=2)
        for place, player, imp, fines in rows
    )


def alerts() -> tuple[AlertView, ...]:
    return (
        AlertView(
            at=NOON + 1_560_000, code="table_lost", table=4, text="Table 4 went offline without being switched off."
        ),
        AlertView(
            at=NOON + 840_000,
            code="fouled",
            table=2,
            text="table 2: deal 6 is played in another form",
            values={"deal": 6},
        ),
    )


def view() -> DashboardView:
    return DashboardView(
        version=41,
        event="lille-2026",
        title="Tournoi international de Lille 2026",
        profile="oedmc-2020",
        connected=True,
        final=False,
        plays_in=7,
        plays_expected=32,
        tables=tables(),
        plays=plays(),
        standings=standings(),
        alerts=alerts(),
    )


def of_hall(name: str, title: str, tables: str, **more: object) -> HallView:
    """Return a hall with all its messages at the centre, except where other values are given."""
    hall = HallView(
        name=name,
        title=title,
        tables=tables,
        lifecycle="there",
        silent=False,
        upto=412,
        behind=0,
        heard_at=NOON + 5_000_000,
        version="0.4.1",
        clock_off_ms=900,
        refused=0,
        revoked=False,
        plays_in=160,
        plays_expected=320,
    )
    return replace(hall, **more)


def centre() -> DashboardView:
    """Return the room of a centre of an event in many halls, each hall in a different state."""
    unheard = {"lifecycle": None, "heard_at": None, "upto": 0, "version": "", "plays_in": 0, "clock_off_ms": 0}
    halls = (
        of_hall("paris", "Paris, Maison des Jeux de Société du XIIIᵉ", "1-20"),
        of_hall("osaka", "大阪市中央公会堂", "21-40", behind=1_204, clock_off_ms=3 * 3_600_000 + 300_000),
        of_hall("lima", "Lima", "41-60", silent=True, behind=88, clock_off_ms=-540_000),
        of_hall("tunis", "Tunis", "61-80", revoked=True, refused=14, version="0.3.9"),
        of_hall("oslo", "Oslo", "81-90,95", **unheard),
    )
    return replace(view(), halls=halls)


def in_hall() -> DashboardView:
    """Return the room of a hall that has lost its connection to the centre."""
    return replace(
        view(),
        centre=CentreView(
            "Osaka",
            connected=False,
            rows=1616,
            upto=412,
            heard_at=NOON,
            refused=2,
            revoked=False,
            tried=("centre.example.org:1883",),
        ),
    )


def empty() -> DashboardView:
    """Return the room before anything has happened."""
    quiet = tuple(
        replace(table(number), lifecycle=None, state=None, round=None, deal=None, plays_in=0) for number in (1, 2)
    )
    return replace(view(), version=1, plays_in=0, tables=quiet, plays=(), standings=(), alerts=())


def newer(base: DashboardView, **changes: object) -> DashboardView:
    return replace(base, version=base.version + 1, **changes)


def feed(first: DashboardView | None = None) -> ViewFeed:
    return ViewFeed(first or view())
