"""A championship from set-up to the ceremony, run on the desk's pages, with all results recomputed.

64 players in two sections: check-in, three no-shows, a late entry, a withdrawal, a wrong seating, two appeals, a cut to
a final of sixteen with two thirds carried over. `CHAMPIONSHIP_PICTURES=FOLDER` takes pictures of the pages on the way.
"""

import csv
import io
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Final, TypeVar

import pypdfium2
import pytest
from playwright.sync_api import Browser, expect

from broker.mqtt.programs import Kind
from tests.e2e.championship.pages import (
    Photographer,
    lines_on,
    number,
    read_out_on,
    seating_on,
    standings_on,
    traveller_on,
)
from tests.e2e.championship.recount import SEATS, Play, Standing, cut, lines_of, part, played, standings
from tests.e2e.championship.staff import (
    HEAD,
    Person,
    change_who_plays,
    check_in,
    make_accounts,
    rule,
    set_event_up,
    set_pin,
)
from tests.e2e.championship.venue import LONGEST_S, STAGE_S, Place, Venue, drawn_plays
from tests.patience import tries

pytestmark = pytest.mark.slow

FIRST: Final = ("Élodie", "Jonas", "Chiara", "Tomasz", "Haruka", "Miguel", "秀英", "Maria-Magdalena")
LAST: Final = (
    "Lefèvre",
    "Bergström",
    "Rinaldi",
    "Wójcik",
    "佐藤",
    "Ortega",
    "欧阳娜娜·阿卜杜拉",
    "Wolfeschlegelsteinhausenbergerdorff",
)
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
BY_DAY: Final = ("", "grid", "checkin", "players", "rulings", "infractions", "orders")
OPEN_TO_ALL: Final = ("standings?stage=1", "seating", "seating?by=table", "deal/1", "player/p01", "display")
AFTERWARDS: Final = ("final", "ceremony", "standings", "rulings", "exports")
"""Pages of which pictures are taken afterwards; `make pages` takes all."""


class Championship:
    """The event as its staff run it, and its independent recount."""

    def __init__(self, venue: Venue, browser: Browser, kind: Kind, photos: Photographer) -> None:
        self.venue, self.photos = venue, photos
        link = venue.open_set_up()
        make_accounts(browser, venue.desk, link)
        organiser = Person(browser, venue.desk, "olga")
        set_event_up(organiser, LISTED)
        photos.look(organiser.page, organiser.at("setup"))
        text = organiser.context.request.get(organiser.at("setup/movement.csv")).text()
        rows = list(csv.DictReader(io.StringIO(text)))
        self.deals = {(int(row["round"]), int(row["table"])): int(row["deal"]) for row in rows}
        self.ranks = {
            (int(row["round"]), int(row["table"])): {seat: row[seat] for seat in SEATS}
            for row in rows
            if int(row["round"]) > QUALIFICATION
        }
        organiser.context.close()
        venue.start_scorer(kind)
        venue.switch_on()
        self.head, self.organiser = Person(browser, venue.desk, HEAD), Person(browser, venue.desk, "olga")
        self.helper, self.public = Person(browser, venue.desk, "tao", phone=True), Person(browser, venue.desk)
        self.drawn = drawn_plays(ROUNDS, random.Random(23))
        self.plays: dict[Place, Play] = {}
        self.members: dict[str, dict[str, int]] = {section: {} for section in SECTIONS}
        """The players of each section without results, who are ranked even if they sit out at first."""
        self.before: dict[str, int] = {}
        """IMPs that finalists carry over."""

    # ---- the day ----------------------------------------------------------------------------

    def play(self, *rounds: int) -> None:
        """Let all tables play some rounds with the current seating."""
        plan = self.seating()
        for (round_, table), four in plan.items():
            if round_ <= QUALIFICATION:
                self.members[SECTIONS[table > 8]].update(dict.fromkeys(four.values(), 0))
        seats = {place: four for place, four in plan.items() if place[0] in rounds}
        for (round_, table), four in seats.items():
            section = "" if round_ > QUALIFICATION else SECTIONS[table > 8]
            ended = self.drawn[round_, table]
            self.plays[round_, table] = played(round_, table, self.deals[round_, table], section, four, ended)
        self._wait_for_plan(rounds[0])
        self.venue.let_play(self.drawn, rounds)
        self.head.go("")
        progress = self.head.page.locator("label[for=progress]")
        with self.venue.explained():
            expect(progress).to_contain_text(re.compile(rf"^\s*{len(self.plays)} of "), timeout=STAGE_S * 1000)

    def _wait_for_plan(self, first: int) -> None:
        """Wait until every table is at its next deal."""
        left = [place for place in self.plays if place[0] >= first]
        due = {table: min(round_ for round_, at in left if at == table) for _, table in left}
        self.head.go("")
        with self.venue.explained():
            self.head.page.wait_for_function(
                """async (due) => {
                  const view = await fetch("/view.json").then((one) => one.json()).catch(() => ({tables: []}));
                  const at = Object.fromEntries(view.tables.map((one) => [one.table, one]));
                  return due.every(([table, round]) => at[table]?.round === round && at[table].state === "restoring");
                }""",
                arg=[*due.items()],
                timeout=LONGEST_S * 1000,
                polling=500,
            )

    def seating(self) -> dict[Place, dict[str, str]]:
        """Return the public seating."""
        found = seating_on(self.public.page, self.public.at("seating?by=table"))
        for round_ in range(1, ROUNDS + 1):
            here = Counter(who for place, four in found.items() if place[0] == round_ for who in four.values())
            assert not here or max(here.values()) == 1
        met = Counter((who, self.deals[place]) for place, four in found.items() for who in four.values())
        assert max(met.values()) == 1, "somebody meets a deal again"
        return found

    def names(self) -> dict[str, str]:
        """Return the players' names by id, from the seating plan."""
        self.public.go("seating")
        links = self.public.page.locator("tr[data-key^=seat-] a")
        return dict(links.evaluate_all("(all) => all.map((one) => [one.pathname.split('/').pop(), one.textContent])"))

    # ---- rulings ----------------------------------------------------------------------------

    def put_wrong_seating_right(self) -> None:
        """East and west sat in each other's seats, which the floor arbiter corrects on a telephone."""
        play = next((one for one in self.plays.values() if one.at_table.keys() & {"east", "west"}), self.plays[3, 2])
        play.players |= {"east": play.players["west"], "west": play.players["east"]}
        seats = {f"seat-{seat}": who for seat, who in play.players.items()}
        rule(self.helper, f"play={play.table}-{play.round}&kind=seats_played", "they sat the other way round", **seats)

    def fine_that_the_committee_changes(self) -> None:
        """A player who said hu aloud is fined and appeals; the committee changes it, and the fine is withdrawn."""
        play = self.plays[4, 3]
        said = {"by-south": "1", "infraction": "sound", "measure": "fine", "fine-south": "4"}
        fined = rule(self.helper, f"play={play.table}-{play.round}&kind=fine", "said hu aloud", **said)
        play.ruled[play.players["south"]] = 4
        self.check_standings(1, self.grouped())
        self._appeal(fined, play.players["south"], "changed")
        rule(self.head, f"undo={fined}", "as the committee has decided")
        play.ruled.clear()

    def correction_that_the_committee_upholds(self) -> None:
        """A hand was counted too low; the discarder appeals, and the committee upholds the correction."""
        play = next(
            one
            for one in self.plays.values()
            if one.round == 7 and one.ended["discarder"] and len(one.ended["winners"]) == 1
        )
        ((winner, value),) = play.ended["winners"].items()
        play.ended |= {"winners": {winner: value + 8}}
        about = f"play={play.table}-{play.round}&kind=correct"
        corrected = rule(self.helper, about, "a fan was left out", **{f"hv-{winner}": str(value + 8)})
        self._appeal(corrected, play.players[play.ended["discarder"]], "upheld")

    def _appeal(self, ruling: str, who: str, verdict: str) -> None:
        rule(self.helper, f"appeal={ruling}&kind=appeal", "the player does not agree", **{"appellant-0": who})
        decided = {"verdict": verdict, "committee": "Hélène Roy\nTao Lin\nInès Moreau"}
        rule(self.head, f"appeal={ruling}&kind=appeal_decided", "after hearing both", **decided)

    def cut_to_final(self) -> None:
        """Compare the qualifiers with the recount, and publish them; then everybody is seated by rank."""
        ranked = self.qualification()
        ranks, level = cut(ranked, FINALISTS // len(SECTIONS))
        head, names = self.head, self.names()
        head.go("final")
        if level:
            head.page.get_by_text("Who does not qualify").click()
        for who in level:
            head.page.locator(f"fieldset.who input[value={who}]").check()
        head.press("Show the qualifiers")
        rows = head.page.locator("#proposal tbody tr").evaluate_all(
            "(rows) => rows.map((row) => [...row.cells].slice(0, 4).map((cell) => cell.textContent.trim()))"
        )
        expected = [
            (rank, names[who], f"{section} {ranked[section][who].place}", ranked[section][who].imp)
            for rank, (who, section) in enumerate(ranks, 1)
        ]
        assert [(int(rank), name, place, number(imp)) for rank, name, place, imp in rows] == expected
        head.fill(reason="the qualification is over")
        head.press("Publish the qualifiers")
        head.done()
        self.before = {who: part(ranked[section][who].imp, CARRIED) for who, section in ranks}
        seats = {place: four for place, four in self.seating().items() if place[0] > QUALIFICATION}
        by_rank = {
            place: {seat: ranks[int(rank) - 1][0] for seat, rank in four.items()} for place, four in self.ranks.items()
        }
        assert seats == by_rank

    def declare_final(self) -> None:
        """Declare the standings final."""
        self.head.go("final")
        self.head.fill(reason="nothing is open")
        self.head.press("Declare the standings final")
        self.head.done()

    def hold_ceremony(self) -> None:
        """Read out the places, last first, and view the certificates."""
        final, names = {who: line for (_, who), line in self.final().items()}, self.names()
        self.public.go("ceremony")
        prizes = sorted(
            ((line.place, names[who], line.imp) for who, line in final.items() if line.place <= 3), reverse=True
        )
        assert sorted(read_out_on(self.public.page), reverse=True) == prizes
        assert [place for place, *_ in read_out_on(self.public.page)] == [place for place, *_ in prizes]
        answer = self.head.context.request.get(self.head.at("exports/certificates.pdf"))
        printed = [one.get_textpage().get_text_bounded() for one in pypdfium2.PdfDocument(answer.body())]
        assert len(printed) == len(self.everybody())
        for line in final:
            assert sum(names[line] in text for text in printed) == 1

    # ---- the numbers ------------------------------------------------------------------------

    def stage_plays(self, stage: int, plays: Iterable[Play] | None = None) -> list[Play]:
        """Return the plays of a stage."""
        return [one for one in plays or self.plays.values() if (one.round > QUALIFICATION) is (stage > 1)]

    def qualification(self, plays: Iterable[Play] | None = None) -> dict[str, dict[str, Standing]]:
        """Return the standings of the first stage, by section."""
        of_stage = self.stage_plays(1, plays)
        return {
            section: standings((one for one in of_stage if one.section == section), self.members[section])
            for section in SECTIONS
        }

    def grouped(self) -> dict[tuple[str, str], Standing]:
        """Return the standings of the first stage in the form of its page."""
        ranked = self.qualification()
        return {(f"Qualification · {section}", who): line for section, of in ranked.items() for who, line in of.items()}

    def final(self) -> dict[tuple[str, str], Standing]:
        """Return the standings of the final in the form of its page."""
        return {("Final", who): line for who, line in standings(self.stage_plays(2), self.before).items()}

    def check_standings(self, stage: int, expected: dict[tuple[str, str], Standing]) -> None:
        """Assert that the arbiters' page shows these standings, perhaps after a short delay."""
        at = self.head.at(f"standings?stage={stage}")
        assert awaited(lambda: standings_on(self.head.page, at), expected) == expected

    def everybody(self) -> dict[tuple[str, str], Standing]:
        """Return each player's line in the last stage that they played."""
        final = self.final()
        finalists = {who for _, who in final}
        return final | {key: line for key, line in self.grouped().items() if key[1] not in finalists}

    def check_files(self) -> None:
        """Compare public standings, the event's files and its exports with the recount."""
        expected = self.everybody()
        at = self.public.at("standings")
        assert awaited(lambda: standings_on(self.public.page, at), expected) == expected
        written = {key: (line.place, line.imp) for key, line in expected.items()}
        assert awaited(self._standings_in_the_folder, written) == written
        text = self.head.context.request.get(self.head.at("exports/results.csv")).text()
        lines = lines_of(self.plays.values())
        said = {
            (int(row["round"]), int(row["table"]), row["player"]): (
                int(row["points"]),
                int(row["imp"]) - int(row["fine"]),
            )
            for row in csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
        }
        assert said == {key: (one.points, one.imp) for key, one in lines.items()}

    def _standings_in_the_folder(self) -> dict[tuple[str, str], tuple[int, int]]:
        with (self.venue.folder / "standings.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        return {(group_of(row), row["player"]): (int(row["place"]), int(row["imp"])) for row in rows}

    def check_sheets(self) -> None:
        """Compare every player's sheet and every traveller with the recount."""
        lines = lines_of(self.plays.values())
        for who in {who for _, _, who in lines}:
            self.public.go(f"player/{who}")
            expected = {
                (r, t): (one.points, one.datum, one.imp) for (r, t, player), one in lines.items() if player == who
            }
            assert (who, lines_on(self.public.page)) == (who, expected)
        for deal in sorted({one.deal for one in self.plays.values()}):
            self.public.go(f"deal/{deal}")
            expected_lines = {
                (one.round, one.table, who): (
                    lines[one.round, one.table, who].points,
                    lines[one.round, one.table, who].imp,
                )
                for one in self.plays.values()
                if one.deal == deal
                for who in one.players.values()
            }
            assert (deal, traveller_on(self.public.page)) == (deal, expected_lines)


Read = TypeVar("Read")


def awaited(read: Callable[[], Read], expected: Read) -> Read:
    """Read until the result is as expected, since pages and files may lag; return the last result."""
    for _ in tries():
        if (found := read()) == expected:
            break
    return found


def group_of(row: dict[str, str]) -> str:
    """Return stage and section of a row, as written on pages."""
    return " · ".join(filter(None, (row["stage"], row["section"])))


@pytest.fixture(params=["embedded", "mosquitto"])
def championship(tmp_path: Path, request: pytest.FixtureRequest, browser: Browser) -> Iterator[Championship]:
    photos = Photographer()
    with ExitStack() as leaving:
        leaving.callback(photos.develop)
        yield Championship(Venue(tmp_path, leaving), browser, request.param, photos)


def test_a_championship_from_set_up_to_ceremony_has_the_recomputed_results(
    championship: Championship,
) -> None:
    at = championship
    set_pin(at.head)
    check_in(at.helper, NAMES, NO_SHOWS)
    change_who_plays(at.organiser, "three have not come")
    at.play(1, 2)
    at.check_standings(1, at.grouped())
    change_who_plays(at.organiser, "came late", enter=LATE)
    at.play(3, 4, 5)
    at.put_wrong_seating_right()
    at.fine_that_the_committee_changes()
    at.check_standings(1, at.grouped())
    change_who_plays(at.organiser, "has to leave", leave=LEAVER)
    at.photos.look(at.head.page, *map(at.head.at, BY_DAY))
    at.photos.look(at.public.page, *map(at.public.at, OPEN_TO_ALL))
    at.play(6, 7, 8)
    at.correction_that_the_committee_upholds()
    at.check_standings(1, at.grouped())
    at.cut_to_final()
    at.play(9, 10, 11, 12)
    at.check_standings(2, at.final())
    at.declare_final()
    at.check_sheets()
    at.check_files()
    at.hold_ceremony()
    at.photos.look(at.head.page, *map(at.head.at, AFTERWARDS))
