"""The history of rulings, its CSV and JSON files, and proposals that follow from a ruling, over HTTP."""

import csv
import html
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broker.protocol import Fact, Left, LetIn, Paused, PinWrong, TimeAdded
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.small import event, fact
from tests.broker.web.rulings.desks import NOW, Ruled, opened, publish, ruling_desk
from tests.broker.web.test_auth import logged_in

PLAY = "1-2"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Ruled]:
    with ruling_desk(tmp_path / "cup") as made:
        yield made


def test_the_history_can_be_filtered_and_downloaded(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        publish(client, opened(client, f"/rulings/new?play={PLAY}&kind=void") | {"reason": '=HYPERLINK("x")'})
        publish(client, opened(client, "/rulings/new?play=2-2&kind=fine") | {"fine-east": "4"})
        rows = list(csv.DictReader(io.StringIO(client.get("/rulings.csv").text.removeprefix("\ufeff"))))
        told = client.get(f"/rulings.json?play={PLAY}").json()["rulings"]
        fined = client.get("/rulings?kind=fine").text
    assert [(row["kind"], row["table"], row["counts"]) for row in rows] == [("void", "1", "yes"), ("fine", "2", "yes")]
    assert not rows[0]["reason"].startswith("=")
    assert [(row["decision"]["kind"], row["account"]) for row in told] == [("void", "head_arbiter")]
    assert fined.count('<li class="note"') == 1


def test_undone_and_appealed_rulings_stay_with_their_play(desk: Ruled) -> None:
    who = event().players[event().bookings[1, 2].players["west"]].name
    with logged_in(desk.server, "head_arbiter") as client:

        def given(path: str, **fields: str) -> str:
            form = opened(client, f"/rulings/new?{path}") | fields
            publish(client, form)
            return form["id"]

        award = given(f"play={PLAY}&kind=award", **{"imp-west": "2"})
        undone = given(f"undo={award}")
        preview = client.get(f"/rulings/new?undo={undone}").text
        again = given(f"undo={undone}")
        appeal = given(f"appeal={award}&kind=appeal", **{"appellant-0": who})
        dropped = given(f"undo={appeal}")
        page = html.unescape(client.get(f"/rulings?play={PLAY}").text)
    shown = re.findall(r'<li class="note[^"]*" id="([^"]+)">.*?<strong>.*?</strong>(.*?)</p>.*?</li>', page, re.DOTALL)
    places = {id_: re.sub(r"<[^>]+>|\s+", " ", where) for id_, where in shown}
    assert set(places) == {award, undone, again, appeal, dropped}
    assert ["Table 1 · Round 2" in " ".join(where.split()) for where in places.values()] == [True] * 5
    assert "Table 1 · Round 2" in " ".join(re.sub(r"<[^>]+>", " ", preview[preview.index('id="undone"') :]).split())
    line = page[page.index(f'id="{again}"') :].partition("</li>")[0]
    assert f"Taken back · {who} +2 IMP" in line


def test_acts_of_arbiters_at_tables_are_in_the_history_and_its_files(tmp_path: Path) -> None:
    at: dict[str, Any] = {"round": 1, "deal": event().bookings[3, 1].deal}
    there: list[Fact] = [
        PinWrong(tries=1, **at),
        LetIn(author="arbiter at the table", by="pin", **at),
        Paused(begin=True, author="arbiter at the table", reason="tiles misplaced", **at),
        TimeAdded(minutes=7, author="Tao", reason="=1+1", **at),
        Left(author="Tao", **at),
        Paused(begin=True, author="Anne", reason="", **at),
        Paused(begin=False, author="Anne", reason="", **at),
    ]
    said = [fact(3, seq, one, at=NOW) for seq, one in enumerate(there, 1)]
    with ruling_desk(tmp_path / "cup", said) as desk, logged_in(desk.server, "head_arbiter") as client:
        publish(client, opened(client, f"/rulings/new?play={PLAY}&kind=void"))
        page = client.get("/rulings?lang=en").text
        ordered = [client.get(f"/rulings?lang={of}").text for of in ("fr", "zh")]
        timed = client.get("/rulings?kind=time_added&author=tao").text
        rows = list(csv.DictReader(io.StringIO(client.get("/rulings.csv").text.removeprefix("\ufeff"))))
        told = client.get("/rulings.json?play=3-1").json()
    order = ["Order from the desk", "Left", "+7 min extra", "tiles misplaced", "by PIN", "1 since the last correct PIN"]
    section = page[page.index('id="at-tables"') :]
    assert sorted(order, key=section.index) == order
    assert [page.count("Order from the desk"), *map(str.count, ordered, ("Sur ordre du bureau", "裁判台指令"))] == [
        1
    ] * 3
    assert (timed.count('<li class="note"'), "+7" in timed, "No rulings yet" in timed) == (1, True, False)
    kinds = ["pin_wrong", "let_in", "paused", "time_added", "left", "paused", "resumed"]
    assert sorted(row["kind"] for row in rows) == sorted([*kinds, "void"])
    assert [row["kind"] for row in rows if row["kind"] != "void"] == kinds
    assert [row["reason"].startswith("=") for row in rows] == [False] * 8
    assert (told["rulings"], [(one["kind"], one["table"]) for one in told["at_tables"]]) == (
        [],
        [(kind, 3) for kind in kinds],
    )


def test_another_deal_played_leads_to_proposals_for_later_rounds(tmp_path: Path) -> None:
    later = event().bookings[1, 3]
    with ruling_desk(tmp_path / "cup", until_round(2)) as desk, logged_in(desk.server, "table_arbiter") as client:
        fields = opened(client, f"/rulings/new?play={PLAY}&kind=deal_played") | {"played": str(later.deal)}
        publish(client, fields)
        page = client.get("/rulings?lang=en").text
        adjusted = page[page.index("kind=adjusted") :]
        address = page[: page.index("kind=adjusted")].rpartition('href="')[2] + adjusted[: adjusted.index('"')]
        proposed = opened(client, address.replace("&amp;", "&"))
        form = client.get(address.replace("&amp;", "&")).text
        first = client.get("/?lang=en").text
    assert f"deal {later.deal} is known to" in page
    assert re.search(r"with a repeated deal: [1-4]\.", first)
    assert proposed["kind"] == "adjusted"
    assert 'value="own" selected' in form


def test_a_repeated_deal_can_be_left_to_count(desk: Ruled) -> None:
    before = set(event().bookings[1, 1].players.values())
    late = next(play for play in event().plan.plays if play.round > 1 and before & set(play.players.values()))
    with logged_in(desk.server, "head_arbiter") as client:
        publish(client, opened(client, "/rulings/new?play=1-1&kind=deal_played") | {"played": str(late.deal)})
        page = client.get("/rulings?lang=en").text
        links = re.findall(rf'href="(/rulings/new\?play={late.table}-{late.round}&amp;kind=award[^"]*)"', page)
        zeros = {f"imp-{seat}": "0" for seat in late.players}
        assert publish(client, opened(client, html.unescape(links[0])) | zeros).status_code == 303
        after = client.get("/rulings?lang=en").text
    asked = f"Table {late.table}, round {late.round}: deal {late.deal} counts, and was played again by"
    assert (asked in page, asked in after, "Standings cannot be final until these are decided." in page) == (
        True,
        False,
        True,
    )
