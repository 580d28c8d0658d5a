"""The state of halls at the centre's desk, and of the connection to the centre at a hall's desk."""

import re
from typing import Final

import pytest
from msgspec.structs import replace

from broker.protocol import CLOCK_TOLERANCE_MS
from broker.scorer import DashboardView
from broker.web.i18n import translators
from broker.web.tables.dashboard import DashboardRenderer
from tests.broker.web import sample

AT: Final = sample.NOON + 5_000_000


def text(view: DashboardView, *, arbiter: bool = True) -> str:
    """Return the text of the section about halls on the dashboard."""
    page = DashboardRenderer(sheets=arbiter).whole(view, translators()["en"], sample.NOON)
    (part,) = re.findall(r'<section aria-labelledby="halls".*?</section>', page, re.DOTALL) or [""]
    return " ".join(re.sub(r"<[^>]*>", " ", re.sub(r"</?code[^>]*>", "", part)).split())


def row(**more: object) -> str:
    """Return the text about one hall at the centre's desk."""
    view = replace(sample.view(), halls=(sample.of_hall("osaka", "Osaka", "21-40", **more),))
    return text(view).partition("Last contact ")[2]


def test_a_halls_row_shows_messages_last_contact_and_version() -> None:
    assert re.fullmatch(r"Osaka 21-40 · 0\.4\.1 160/320 412 to come: 7 \S*\d\d:\d\d.*", row(behind=7))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"revoked": True}, "Osaka revoked 21-40"),
        ({"silent": True}, "Osaka offline 21-40"),
        ({"lifecycle": "gone"}, "Osaka offline 21-40"),
        ({"lifecycle": None, "heard_at": None, "version": ""}, "Osaka · not online yet 21-40 160/320 412"),
        ({"refused": 3}, "412 refused: 3"),
        ({"clock_off_ms": 3 * 3_600_000 + 300_000}, " its clock: 3 h 05 min ahead"),
        ({"clock_off_ms": -540_000}, " its clock: 9 min behind"),
    ],
)
def test_a_halls_problem_is_described(changes: dict[str, object], said: str) -> None:
    assert said in row(**changes)


@pytest.mark.parametrize("off_ms", [CLOCK_TOLERANCE_MS, -CLOCK_TOLERANCE_MS])
def test_a_small_clock_offset_is_not_mentioned(off_ms: int) -> None:
    assert "clock" not in row(clock_off_ms=off_ms)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"connected": True}, "Connected. The centre has 412 of 1616 messages of this hall."),
        (
            {},
            "of 1616 messages of this hall; the others are sent later. It is looked for at centre.example.org:1883.",
        ),
        (
            {"turned_away": True},
            "centre.example.org:1883 does not let this hall in: its certificate is not the centre’s",
        ),
        ({"revoked": True}, "The centre no longer accepts messages from this hall."),
    ],
)
def test_a_hall_shows_its_connection_to_the_centre(changes: dict[str, bool], said: str) -> None:
    view = sample.in_hall()
    assert view.centre is not None
    assert said in text(replace(view, centre=replace(view.centre, **changes)))
