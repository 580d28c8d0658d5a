"""A championship from set-up to the ceremony, run through the desk's own pages, with every number recomputed.

64 players in two sections: check-in, three no-shows, a late entry, a withdrawal, a wrong seating, two appeals, a cut to
a final of sixteen with two thirds carried over. `CHAMPIONSHIP_PICTURES=FOLDER` takes pictures of the pages on the way.
"""

import csv
import io
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Final

import pypdfium2
import pytest
from playwright.sync_api import Browser, expect

from broker.mqtt.brokers import Kind
from tests.broker.web.conftest import browser  # noqa: F401 - a fixture
from tests.e2e.championship.pages import (
    Photographer,
    lines_on,
    read_out_on,
    seating_on,
    standings_on,
    traveller_on,
)
from tests.e2e.championship.recount import Play, Standing, cut, lines_of, part, played, standings
from tests.e2e.championship.staff import (
    HEAD,
    Person,
    change_who_plays,
    check_in,
    make_accounts,
    rule,
    save,
    set_event_up,
    set_pin,
)
from tests.e2e.championship.venue import LONGEST_S, Place, Venue, drawn_plays

pytestmark = pytest.mark.slow

FIRST: Final = ("Élodie", "Jonas", "Chiara", "Tomasz", "Haruka", "Miguel", "秀英", "Désirée")
LAST: Final = ("Lefèvre", "Bergström", "Rinaldi", "Wójcik", "佐藤", "Ortega", "李", "Nørgaard")
NAMES: Final = tuple(f"{first} {last}" for first, last in product(FIRST, LAST))
NO_SHOWS: Final = (NAMES[5], NAMES[22], NAMES[40])
LATE: Final = "Zoé Öztürk"
LEAVER: Final = NAMES[11]
COUNTRIES: Final = ("FRA", "SWE", "ITA", "POL", "JPN", "ESP", "CHN", "DNK")
LISTED: Final = "name,country,club\n" + "".join(
    f"{name},{country},Club {at % 5}\n" for at, (name, country) in enumerate(zip(NAMES, COUNTRIES * 8, strict=True))
)
QUALIFICATION, ROUNDS, FINALISTS = 8, 12, 16
CARRIED: Final = Fraction(2, 3)
SECTIONS: Final = ("A", "B")
STAFF_PAGES: Final = (
    "", "grid", "wire", "carriers", "checkin", "players", "rulings", "infractions", "final", "rulings/new", "orders",
    "exports", "people", "pairing?new=1", "paper", "setup",
)  # fmt: skip
PUBLIC_PAGES: Final = ("standings", "seating", "seating?by=table", "deals", "deal/1", "player/p01", "display")


class Championship:
    """The event as its staff live it, and as it is counted beside it."""

    def __init__(self, venue: Venue, browser: Browser, kind: Kind, photos: Photographer) -> None:  # noqa: F811 - the fixture
        self.venue, self.photos = venue, photos
        link = venue.open_set_up()
        make_accounts(browser, venue.desk, link)
        organiser = Person(browser, venue.desk, "olga")
        set_event_up(organiser, LISTED)
        photos.look(organiser.page, *(organiser.desk + path for path in ("setup", "setup/draw")))
        text = organiser.context.request.get(organiser.at("setup/movement.csv")).text()
        rows = list(csv.DictReader(io.StringIO(text)))
        self.deals = {(int(row["round"]), int(row["table"])): int(row["deal"]) for row in rows}
        organiser.context.close()
        venue.start_scorer(kind)
        self.head, self.organiser = Person(browser, venue.desk, HEAD), Person(browser, venue.desk, "olga")
        self.helper, self.public = Person(browser, venue.desk, "tao", phone=True), Person(browser, venue.desk)
        self.drawn = drawn_plays(ROUNDS, random.Random(23))
        self.plays: dict[Place, Play] = {}
        self.before: dict[str, int] = {}
        """What finalists bring to the final."""

    # ---- the day ----------------------------------------------------------------------------

    def play(self, *rounds: int) -> None:
        """Let all tables play some rounds as they are seated now."""
        seats = {place: four for place, four in self.seating().items() if place[0] in rounds}
        for (round_, table), four in seats.items():
            section = "" if round_ > QUALIFICATION else SECTIONS[table > 8]
            ended = self.drawn[round_, table]
            self.plays[round_, table] = played(round_, table, self.deals[round_, table], section, four, ended)
        with self.venue.switch_on(self.drawn, rounds):
            self.head.go("")
            progress = self.head.page.locator("label[for=progress]")
            expect(progress).to_contain_text(re.compile(rf"^\s*{len(self.plays)} of "), timeout=LONGEST_S * 1000)

    def seating(self) -> dict[Place, dict[str, str]]:
        """Return who sits where, as everybody can read it."""
        found = seating_on(self.public.page, self.public.at("seating?by=table"))
        for round_ in range(1, ROUNDS + 1):
            here = Counter(who for place, four in found.items() if place[0] == round_ for who in four.values())
            assert not here or max(here.values()) == 1
        met = Counter((who, self.deals[place]) for place, four in found.items() for who in four.values())
        assert max(met.values()) == 1, "somebody meets a deal again"
        return found

    def names(self) -> dict[str, str]:
        """Return everybody's name by id, as the seating plan has them."""
        self.public.go("seating")
        links = self.public.page.locator("tr[data-key^=seat-] a")
        return dict(links.evaluate_all("(all) => all.map((one) => [one.pathname.split('/').pop(), one.textContent])"))

    # ---- the numbers ------------------------------------------------------------------------

    def stage_plays(self, stage: int, plays: Iterable[Play] | None = None) -> list[Play]:
        """Return the plays of a stage."""
        return [one for one in plays or self.plays.values() if (one.round > QUALIFICATION) is (stage > 1)]

    def qualification(self, plays: Iterable[Play] | None = None) -> dict[str, dict[str, Standing]]:
        """Return the standings of the first stage, by section."""
        of_stage = self.stage_plays(1, plays)
        return {section: standings((one for one in of_stage if one.section == section), {}) for section in SECTIONS}

    def grouped(self) -> dict[tuple[str, str], Standing]:
        """Return the standings of the first stage as its page has them."""
        ranked = self.qualification()
        return {(f"Qualification · {section}", who): line for section, of in ranked.items() for who, line in of.items()}

    def final(self) -> dict[tuple[str, str], Standing]:
        """Return the standings of the final as its page has them."""
        return {("Final", who): line for who, line in standings(self.stage_plays(2), self.before).items()}

    def check_sheets(self) -> None:
        """Hold every player's sheet and every traveller against the recount."""
        lines = lines_of(self.plays.values())
        for who in {who for _, _, who in lines}:
            self.public.go(f"player/{who}")
            expected = {(r, t): (one.points, one.datum, one.imp) for (r, t, player), one in lines.items() if player == who}
            assert (who, lines_on(self.public.page)) == (who, expected)
        for deal in sorted({one.deal for one in self.plays.values()}):
            self.public.go(f"deal/{deal}")
            expected_lines = {
                (one.round, one.table, who): (lines[one.round, one.table, who].points, lines[one.round, one.table, who].imp)
                for one in self.plays.values()
                if one.deal == deal
                for who in one.players.values()
            }
            assert (deal, traveller_on(self.public.page)) == (deal, expected_lines)


@pytest.fixture(params=["embedded", "mosquitto"])
def championship(tmp_path: Path, request: pytest.FixtureRequest, browser: Browser) -> Iterator[Championship]:  # noqa: F811 - the fixture
    photos = Photographer()
    with ExitStack() as leaving:
        leaving.callback(photos.develop)
        yield Championship(Venue(tmp_path, leaving), browser, request.param, photos)


def test_a_championship_runs_from_set_up_to_the_ceremony_and_every_number_is_as_recomputed(
    championship: Championship,
) -> None:
    at = championship
    set_pin(at.head)
    check_in(at.helper, NAMES, NO_SHOWS)
    change_who_plays(at.organiser, "three have not come")
    at.play(1, 2)
    assert standings_on(at.head.page, at.head.at("standings?stage=1")) == at.grouped()
