"""Setting an event up: each step is checked, and nothing changes once the event has begun."""

import base64
import re
import shutil
from pathlib import Path
from random import Random

import httpx
import msgspec
import pypdfium2
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markupsafe import escape

from broker.cli.main import homologue
from broker.event import Hall, open_event, read_deals, read_halls, read_plan, setup, write_halls
from broker.event.structure import Resources, Structure, formats
from broker.i18n import Translator, languages
from broker.people import ROLES
from broker.rules import new_deal, new_set
from broker.store import STORE
from broker.web.server import DeskServer
from tests.broker.web.setup.steps import HEAD, PLAYERS, STEPS, made, send
from tests.broker.web.test_auth import logged_in

FEW = 8
SETS = range(1, 21)


def test_the_steps_make_an_event_that_can_start_from_a_copy_of_its_folder(
    client: httpx.Client, folder: Path, tmp_path: Path
) -> None:
    page = made(client).text
    assert "homologue scorer" in page
    shutil.copytree(folder, tmp_path / "copy")
    event = open_event(tmp_path / "copy")
    assert (event.name, len(event.players), len(event.plan.plays), event.plan.sessions[0].name) == (
        "cup-2026",
        16,
        80,
        "Friday",
    )
    assert '"faces"' not in page


@pytest.mark.usefixtures("folder")
def test_remaining_steps_are_listed_and_only_the_next_is_open(client: httpx.Client) -> None:
    left, at = [], [opened(client.get("/setup").text)]
    for steps in (1, 2, 3, 4):
        page = made(client, steps).text
        left.append(re.findall(r'<a href="#(\w+)">', page))
        at.append(opened(page))
    assert left == [["players", "movement", "deals"], ["movement", "deals"], ["deals"], []]
    assert at == [["head"], ["players"], ["movement"], ["deals"], ["print"]]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("csv", ["name\nAnna\n", "name\n\n"], ids=["checked", "refused"])
def test_a_checked_or_refused_step_stays_open(client: httpx.Client, csv: str) -> None:
    made(client, 2)
    assert opened(send(client, {"action": "check_players", "step": "players", "csv": csv}).text) == ["players"]


def opened(page: str) -> list[str]:
    """Return the unfolded steps."""
    return re.findall(r'<details class="step" open>.*?<div id="(\w+)"', page, re.DOTALL)


def test_a_movement_is_previewed_before_it_is_saved(client: httpx.Client, folder: Path) -> None:
    made(client, upto=2)
    before = (folder / "event.toml").read_bytes()
    page = send(client, {"action": "look_movement", "rounds": "5"}).text
    assert "Plays per player: 20. Deals: 20; tables that play each: 4 of 4. About 8 h 20 min at 25 minutes" in page
    assert '<input type="hidden" name="rounds" value="5">' in page
    assert (folder / "event.toml").read_bytes() == before
    alone = send(client, {"action": "look_movement", "rounds": "1"}).text
    assert "nothing is compared and every IMP is 0" in alone


def test_earlier_standings_can_be_carried_over_and_removed(client: httpx.Client, folder: Path) -> None:
    made(client, upto=1)
    earlier = {"csv": "place,player,name,imp\n1,q7,Ada,12\n2,q1,Bob,3\n3,q2,Cid,-3\n", "earlier_title": "Saturday"}
    page = send(client, {"action": "check_earlier", "earlier_first": "2", **earlier}).text
    assert ("2 of these standings play here." in page, "Ada" in page, "Cid</th>" in page) == (True, True, False)
    assert read_plan(folder).players == ()
    page = send(client, {"action": "earlier", "earlier_first": "2", "earlier_part": "50%", **earlier}).text
    assert "Begins from the standings of Saturday: 2 listed, carried over: 50%." in page
    assert [one.name for one in read_plan(folder).players] == ["Ada", "Bob"]
    assert "<code>part_wrong</code>" in send(client, {"action": "earlier", "earlier_part": "x", **earlier}).text
    assert "Begins from" not in send(client, {"action": "no_earlier"}).text


def test_a_guest_is_listed_without_standing(client: httpx.Client, folder: Path) -> None:
    made(client, upto=1)
    page = send(client, {"action": "players", "csv": "Nom;Hors classement\nAda;oui\nBob;\n"}).text
    assert page.count("<td>without standing</td>") == 1
    assert [one.without_standing for one in read_plan(folder).players] == [True, False]
    wrong = send(client, {"action": "players", "csv": "name,without_standing\nAda,perhaps\n"}).text
    assert "<code>player_detail_wrong</code>" in wrong


FORMATS = {"action": "formats", "hours": "8:20", "tables": "4", "carriers": "4"}


@pytest.mark.usefixtures("hurried")
def test_fitting_formats_are_offered_and_a_chosen_one_fills_the_form(client: httpx.Client, folder: Path) -> None:
    made(client, upto=2)
    before = (folder / "event.toml").read_bytes()
    page = send(client, FORMATS).text
    rows = re.findall(r'<th scope="row">(\d+) × (\d+)</th><td data-label="Carriers of each deal"[^>]*>(\d+)</td>', page)
    offered = [one.order for one in formats(Resources(16, 4, 500, 4))]
    assert rows == [(str(one.rounds), str(one.deals_per_round), str(one.copies)) for one in offered]
    assert ("5", "4", "1") in rows
    page = send(client, {**FORMATS, "action": "choose 5 4 1"}).text
    assert "Plays per player: 20. Deals: 20; tables that play each: 4 of 4." in page
    assert "call each deal that a table plays a round: 20 rounds." in page
    assert '<input name="deals_per_round" type="number" min="1" max="99" inputmode="numeric" value="4">' in page
    assert (folder / "event.toml").read_bytes() == before
    send(client, {"action": "make_movement", "rounds": "4", "deals_per_round": "2", "copies": "2"})
    plan = setup.plan_of(folder)
    assert plan is not None
    assert (len({play.deal for play in plan.plays}), plan.copies) == (8, 2)


@pytest.mark.usefixtures("folder")
def test_hall_and_stage_fields_are_kept_while_formats_are_chosen(client: httpx.Client) -> None:
    made(client, upto=2)
    typed = {**FORMATS, "sections": "2", "final": "8", "final_rounds": "3", "carry_over": "1/2"}
    for action in ("formats", "choose 4 1 2"):
        page = send(client, {**typed, "action": action}).text
        fields = dict(re.findall(r'<input name="(\w+)"[^>]* value="([^"]*)"', page))
        assert {name: fields[name] for name in typed if name != "action"} == {
            name: text for name, text in typed.items() if name != "action"
        }
    assert (fields["rounds"], fields["copies"]) == ("4", "2")
    assert "Then a final of 8 in 3 rounds" in page


@pytest.mark.usefixtures("folder")
def test_a_formats_tables_are_divided_among_the_sections(client: httpx.Client) -> None:
    made(client, upto=2)
    page = send(client, {**FORMATS, "sections": "2", "action": "choose 4 1 1 2"}).text
    assert '<input type="hidden" name="tables_each" value="1">' in page


IN_CLUBS = "name,country,club\n" + "".join(f"P{n},FRA,{'Paris' if n < 8 else 'Ōsaka'}\n" for n in range(20))


@pytest.mark.usefixtures("hurried")
def test_halls_can_be_planned_by_club_and_removed_again(client: httpx.Client, folder: Path) -> None:
    made(client, upto=1)
    send(client, {"action": "players", "csv": IN_CLUBS})
    wish = {"rounds": "4", "halls_by": "club"}
    page = send(client, {"action": "look_movement", **wish}).text
    assert "Paris 2 · Ōsaka 3" in page.partition('id="ahead-halls"')[2]
    assert '<input type="hidden" name="halls_by" value="club">' in page
    assert not (folder / "halls.toml").exists()
    page = send(client, {"action": "make_movement", **wish}).text
    assert [(one.title, one.tables) for one in read_halls(folder)] == [("Paris", "1-2"), ("Ōsaka", "3-5")]
    assert "Paris 1-2 · Ōsaka 3-5" in page.partition('id="halls"')[2]
    page = send(client, {"action": "deals"}).text
    assert ("homologue hall split" in page, "homologue centre" in page, "homologue scorer" in page) == (
        True,
        True,
        False,
    )
    send(client, {"action": "take_out", "sure": "yes"})
    send(client, {"action": "make_movement", "rounds": "4"})
    assert read_halls(folder) == ()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("csv", "asked", "code"),
    [
        ("name,club\nA,Paris\nB,Paris\nC,Paris\nD,Paris\nE,\n", "club", "halls_wrong"),
        ("name,club\nA,Paris\nB,Paris\nC,Paris\nD,Paris\nE,Pariss\n", "club", "impossible_size"),
        (PLAYERS, "team", "form_malformed"),
    ],
    ids=["player without a hall", "hall without a table", "no column"],
)
def test_impossible_halls_are_refused_and_nothing_is_saved(
    client: httpx.Client, folder: Path, csv: str, asked: str, code: str
) -> None:
    made(client, upto=1)
    send(client, {"action": "players", "csv": csv})
    before = (folder / "event.toml").read_bytes()
    answer = send(client, {"action": "make_movement", "rounds": "4", "halls_by": asked})
    assert (answer.status_code, code in answer.text, (folder / "halls.toml").exists()) == (400, True, False)
    assert (folder / "event.toml").read_bytes() == before


def test_a_player_in_two_halls_is_reported_before_the_start(client: httpx.Client, folder: Path) -> None:
    made(client, 4)
    write_halls(folder, [Hall("paris", "Paris", "1-2"), Hall("osaka", "Osaka", "3-4")])
    page = client.get("/setup").text
    assert ("<code>player_in_two_halls</code>" in page, "homologue scorer" in page) == (True, False)


@pytest.mark.usefixtures("folder")
def test_one_empty_session_is_shown_and_more_are_folded(client: httpx.Client) -> None:
    made(client, upto=3)
    for page, more in (client.get("/setup").text, 1), (send(client, STEPS[-1]).text, 2):
        first, folded = page.partition('id="sessions"')[2].split("<summary>More sessions</summary>")
        assert (first.count("<fieldset"), folded.count("<fieldset")) == (1, more)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("hours", ["", "0", "-1", "nan", "101", "4:xx", "1e9"])
def test_invalid_hours_are_refused(client: httpx.Client, hours: str) -> None:
    made(client, upto=2)
    assert "<code>malformed</code>" in send(client, {**FORMATS, "hours": hours}).text


@pytest.mark.usefixtures("folder")
def test_an_event_without_comparisons_needs_confirmation(client: httpx.Client) -> None:
    made(client, upto=2)
    page = send(client, {"action": "make_movement", "rounds": "1"}).text
    assert ("<code>nobody_compared</code>" in page, 'value="uncompared"' in page) == (True, True)
    assert "<code>nobody_compared</code>" not in send(client, {"action": "uncompared"}).text
    again = send(client, {"action": "make_movement", "rounds": "1"}).text
    assert "<code>nobody_compared</code>" in again  # it was confirmed for the previous movement


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("https://results.example.org", "https://results.example.org"),
        (" http://10.0.0.2:8136/ ", "http://10.0.0.2:8136"),
        ("https://example.org/mahjong/2026/", "https://example.org/mahjong/2026"),
        ("", ""),
    ],
)
def test_the_public_address_is_normalised_saved_and_shown(
    client: httpx.Client, folder: Path, typed: str, kept: str
) -> None:
    page = send(client, {**HEAD, "public_address": typed}).text
    assert ('id="done"' in page, f'value="{kept}"' in page) == (True, True)
    plan = setup.plan_of(folder)
    assert plan is not None
    assert plan.public_address == kept


def test_the_choice_to_keep_plays_is_saved_and_shown(client: httpx.Client, folder: Path) -> None:
    page = send(client, {**HEAD, "keep_plays": "yes"}).text
    assert read_plan(folder).keep_plays
    assert re.search(r'name="keep_plays" value="yes" checked', page)
    send(client, HEAD)
    assert not read_plan(folder).keep_plays


@pytest.mark.parametrize(
    "typed",
    [
        "results.example.org",
        "ftp://example.org",
        "https://",
        "https://example.org/?a=b",
        "https://example.org/#a",
        "https://ana:secret@example.org",
        "https://example.org:70000",
        "https://ex ample.org",
        "https://example.org/a b",
        "https://example.org//a",
        "javascript:alert(1)",
        'https://example.org/"><script>',
        "https://" + "a" * 60 + ".org",
        "https://例子.org",
    ],
)
def test_an_invalid_public_address_is_refused_and_stays_in_the_form(
    client: httpx.Client, folder: Path, typed: str
) -> None:
    made(client, 1)
    before = (folder / "event.toml").read_bytes()
    answer = send(client, {**HEAD, "public_address": typed})
    assert (answer.status_code, "public_address_wrong" in answer.text) == (400, True)
    assert ((folder / "event.toml").read_bytes(), f'value="{escape(typed)}"' in answer.text) == (before, True)


def test_every_wrong_line_of_a_list_is_named_and_nothing_is_saved(client: httpx.Client, folder: Path) -> None:
    made(client, 1)
    before = (folder / "event.toml").read_bytes()
    answer = send(client, {"action": "players", "csv": "name,country\nA,france\nB,FRA\nC,12\n"})
    assert [line in answer.text for line in ("line 2", "line 3", "line 4")] == [True, False, True]
    assert (answer.status_code, (folder / "event.toml").read_bytes()) == (400, before)
    assert "france" in answer.text  # the list is shown again to be corrected


FILE = "data:;base64,"
"""Prefix with which a page sends a file that is not UTF-8."""


@pytest.mark.usefixtures("folder")
def test_a_file_in_another_encoding_is_decoded_and_shown_as_text(client: httpx.Client) -> None:
    made(client, 1)
    for lines, code in (("name;country\nZoé;FRA\n", ""), ("name;country\nZoé;france\n", "<code>country_wrong</code>")):
        sent = FILE + base64.b64encode(lines.encode("cp1252")).decode()
        page = send(client, {"action": "check_players", "csv": sent}).text
        assert (FILE in page, lines in page, code in page) == (False, True, True)
    page = send(client, {"action": "check_players", "csv": FILE + "UEsDBA=="}).text
    assert (FILE in page, "<code>bad_workbook</code>" in page) == (False, True)
    rules = 'id = "club"\ncaf\u00e9'
    page = send(client, HEAD | {"rules": FILE + base64.b64encode(rules.encode("cp1252")).decode()}).text
    assert (FILE in page, str(escape(rules)) in page) == (False, True)


def test_a_checked_list_is_shown_but_not_saved(client: httpx.Client, folder: Path) -> None:
    made(client, 1)
    answer = send(client, {"action": "check_players", "csv": PLAYERS})
    assert ("Player 16 李" in answer.text, (folder / "players.csv").exists()) == (True, False)


def test_the_faults_of_a_movement_are_listed_with_their_lines(client: httpx.Client, folder: Path) -> None:
    made(client, 2)
    rows = "round,table,deal,east,south,west,north\n1,1,1,p01,p02,p03,p04\n1,2,1,p05,p06,p07,p01\n"
    rows += "2,1,2,p01,p02,p03,p04\n2,2,3,p05,p06,p07,p08\n"
    page = send(client, {"action": "movement", "csv": rows}).text
    assert [code in page for code in ("deal_at_two_tables", "player_at_two_tables")] == [True, True]
    assert "line 3" in page
    assert open_plays(folder) == 0


def open_plays(folder: Path) -> int:
    return len(read_plan(folder).plays)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"name": "Cup 2!"}, "event_name_wrong"),
        ({"name": ""}, "event_name_wrong"),
        ({"title": "  "}, "title_wrong"),
        ({"title": "a\x07b"}, "title_wrong"),
    ],
)
def test_an_invalid_name_or_title_is_refused_and_stays_in_the_form(
    client: httpx.Client, folder: Path, wrong: dict[str, str], code: str
) -> None:
    answer = send(client, {**HEAD, **wrong})
    assert (answer.status_code, f"<code>{code}</code>" in answer.text) == (400, True)
    assert f'value="{wrong.get("name", HEAD["name"])}"' in answer.text
    assert setup.plan_of(folder) is None


@pytest.mark.usefixtures("folder")
def test_refused_sessions_and_rules_are_shown_as_typed(client: httpx.Client) -> None:
    made(client)
    rows = [("Friday", "1", "8"), ("Saturday", "9", "3"), ("Sunday", "", "20")]
    typed = {
        f"{field}-{at}": text
        for at, row in enumerate(rows, 1)
        for field, text in zip(("name", "first_round", "last_round"), row, strict=True)
    }
    page = send(client, {"action": "sessions", **typed}).text
    fields = dict(re.findall(r'<input name="(\w+-\d)"[^>]* value="([^"]*)"', page))
    assert ("<code>malformed</code>" in page, {name: fields[name] for name in typed}) == (True, typed)
    assert sorted(name for name in fields if name.startswith("name")) == [f"name-{at}" for at in range(1, 6)]
    chosen = {"profile": "mcr", "keying": "double", "rules": 'id = "club"\nhalf = a rule'}
    page = send(client, HEAD | chosen).text
    assert ("<code>bad_profile</code>" in page, str(escape(chosen["rules"])) in page) == (True, True)
    assert ('<option value="mcr" selected>' in page, 'value="double" checked' in page) == (True, True)


def test_carrier_sheets_are_printed_without_tile_faces(client: httpx.Client, folder: Path) -> None:
    page = made(client, 4).text
    assert ('href="/setup/carriers.pdf?' in page, "homologue labels --set 1 --registry" in page) == (True, True)
    deals = sorted(deal.number for deal in read_deals(folder))
    for language in languages():
        printed = client.get(f"/setup/carriers.pdf?lang={language}")
        pages = [one.get_textpage().get_text_bounded() for one in pypdfium2.PdfDocument(printed.content)]
        _ = Translator(language)
        assert [
            _("Deal {number}", number=deal).replace(" ", "") in text.replace(" ", "")
            for deal, text in zip(deals, pages, strict=True)
        ] == [True] * len(deals), language
        assert [text for text in pages if re.search(r"\b[1-9][mps]\b|\b[1-7]z\b", text)] == []


def test_carrier_sheets_are_refused_and_not_linked_without_deals(client: httpx.Client, folder: Path) -> None:
    page, asked = made(client, 3).text, client.get("/setup/carriers.pdf")
    assert not (folder / "deals.json").exists()
    assert ("carriers.pdf" in page, asked.status_code, "sets.json" in asked.text) == (False, 400, True)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["action"])
def test_an_event_that_has_begun_cannot_be_changed(client: httpx.Client, folder: Path, step: dict[str, str]) -> None:
    made(client, 3)
    (folder / STORE).write_bytes(b"")
    before = {path.name: path.read_bytes() for path in folder.iterdir() if "people" not in path.name}
    answer = send(client, {**step, "name": "other"})
    assert (answer.status_code, "event_started" in answer.text) == (400, True)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if "people" not in path.name} == before
    assert 'id="started"' in answer.text


def test_the_event_name_cannot_change_once_deals_are_committed(client: httpx.Client, folder: Path) -> None:
    made(client, 4)
    answer = send(client, {**HEAD, "name": "other"})
    assert (answer.status_code, "other_event" in answer.text) == (400, True)
    assert open_event(folder).name == "cup-2026"


def test_invalid_own_rules_are_refused(client: httpx.Client, folder: Path) -> None:
    made(client, 1)
    assert "bad_profile" in send(client, {**HEAD, "rules": 'id = "x"'}).text
    assert not (folder / "profile.toml").exists()


@pytest.mark.usefixtures("folder")
def test_a_round_without_a_session_is_reported_as_a_problem(client: httpx.Client) -> None:
    made(client, 4)
    page = send(client, {"action": "sessions", "name-1": "Short", "first_round-1": "1", "last_round-1": "2"}).text
    assert "round 20 is in no session" in page
    assert "homologue scorer" not in page


@pytest.mark.parametrize("role", ROLES)
def test_only_organisers_and_head_arbiters_may_set_up(desk: DeskServer, role: str) -> None:
    with logged_in(desk, role) as client:
        answers = [client.get("/setup").status_code, client.post("/setup", data=HEAD).status_code]
    assert answers == ([200, 403] if role in {"organiser", "head_arbiter"} else [403, 403])


KEPT = [step["action"] for step in STEPS if step["action"] not in {"deals", "make_movement"}]
LISTS = st.sampled_from([PLAYERS, "name\n=1+1\n", 'name\n"', "\0", "name,name\na,b"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    action=st.sampled_from([*KEPT, "check_players", "check_movement", "none"]),
    name=st.text(max_size=40),
    text=st.one_of(st.text(max_size=200), LISTS),
    number=st.sampled_from(["", "0", "-1", "999", "1e3", "２", "x" * 50]),
)
@pytest.mark.usefixtures("folder")
def test_any_input_is_accepted_or_refused_and_never_echoed_as_html(
    client: httpx.Client, action: str, name: str, text: str, number: str
) -> None:
    session = {"name-1": name, "first_round-1": number, "last_round-1": number, "starts-1": name}
    data = {"action": action, "name": name, "title": text + "<script>", "csv": text, "profile": name, **session}
    answer = send(client, {key: value.encode("utf-8", "replace").decode() for key, value in data.items()})
    assert answer.status_code in {200, 400}
    assert "<script>" not in answer.text


@pytest.mark.usefixtures("hurried")
def test_a_list_with_teams_makes_a_team_event(client: httpx.Client, folder: Path) -> None:
    made(client, 1)
    listed = "name,team\n" + "".join(f"Player {n},Team {n % 2}\n" for n in range(8))
    assert "8 players · 2 teams" in send(client, {"action": "players", "csv": listed}).text
    setup.take_stages(folder, setup.draft_stages(folder, Structure(4)))
    send(client, {"action": "deals"})
    assert {len(one) for one in open_event(folder).plan.teams.values()} == {4}


def test_seated_players_can_only_be_removed_with_the_movement(client: httpx.Client, folder: Path) -> None:
    made(client, 3)
    before = (folder / "event.toml").read_bytes()
    fewer = {"action": "players", "csv": "".join(PLAYERS.splitlines(keepends=True)[:13])}
    answer = send(client, fewer)
    assert ("players_have_plays" in answer.text, (folder / "event.toml").read_bytes()) == (True, before)
    assert send(client, fewer | {"movement_anew": "yes"}).status_code == 200
    assert (open_plays(folder), len(read_plan(folder).players)) == (0, 12)


@pytest.mark.usefixtures("folder")
def test_likely_mistakes_in_a_list_are_noted(client: httpx.Client) -> None:
    made(client)
    listed = {"csv": f"{PLAYERS}Odd One,FRA,Club\nodd one,XX,Club\n"}
    for page in (
        send(client, listed | {"action": "check_players"}).text,
        send(client, listed | {"action": "players"}).text,
    ):
        told = ("Odd One: p17, p18", "named_alike", "XX: p18", "country_unknown", "No problems found")
        assert [text in page for text in told] == [True, True, True, True, False]


def test_an_empty_list_is_refused(client: httpx.Client, folder: Path) -> None:
    made(client, 2)
    before = (folder / "players.csv").read_bytes()
    answer = send(client, {"action": "players", "csv": "name\n"})
    assert ("no_players" in answer.text, (folder / "players.csv").read_bytes()) == (True, before)


def test_a_player_without_plays_is_noted_but_does_not_prevent_the_start(client: httpx.Client, folder: Path) -> None:
    made(client)
    send(client, {"action": "players", "csv": f"{PLAYERS}Odd One,FRA,Club\n"})
    page = client.get("/setup").text
    assert ("p17 (Odd One)" in page, "homologue scorer" in page) == (True, True)
    told = CliRunner().invoke(homologue, ["event", "check", str(folder), "--json"])
    assert msgspec.json.decode(told.output)["notes"] == [
        {"code": "player_without_play", "message": "p17 (Odd One) has nothing to play"},
        {"code": "not_sealed", "message": "not sealed, so whoever can read deals.json knows them: deals 1-20"},
    ]


def test_deals_can_be_removed_and_made_again_for_a_longer_movement(client: httpx.Client, folder: Path) -> None:
    made(client, 3)
    heading, *rows = client.get("/setup/movement.csv").text.splitlines()
    column = heading.split(",").index("deal")
    few = [row for row in rows if int(row.split(",")[column]) <= FEW]
    shorter, longer = ({"action": "movement", "csv": "\n".join([heading, *lines])} for lines in (few, rows))
    for step in (shorter, {"action": "deals"}):
        assert send(client, step).status_code == 200
    first, count = (folder / "deals.json").read_bytes(), max(open_event(folder).expected)
    assert "deal_unknown" in send(client, longer).text
    assert send(client, {"action": "take_out"}).status_code == 400
    for step in ({"action": "take_out", "sure": "yes"}, longer, {"action": "deals"}):
        assert send(client, step).status_code == 200
    assert first in [path.read_bytes() for path in folder.glob("taken-out-*")]
    assert (count, max(open_event(folder).expected)) == (FEW, 20)


def test_own_sets_and_deals_can_be_imported_and_are_never_shown(client: httpx.Client, folder: Path) -> None:
    made(client, 3)
    wrong = send(client, {"action": "sets", "csv": "set,serial,face\n1,1,9x\n"})
    assert ("9x" in wrong.text, wrong.status_code, (folder / "sets.json").exists()) == (True, 400, False)
    tiles = [f"{number},{serial},{face}" for number in SETS for serial, face in new_set(Random(number)).items()]
    page = send(client, {"action": "sets", "csv": "\n".join(["set,serial,face", *tiles])}).text
    deals = [new_deal(number, "east", "east", Random(number)) for number in SETS]
    rows = [f"{one.number},east,east,{seat},{','.join(tray)}" for one in deals for seat, tray in one.faces.items()]
    head = ",".join(["deal", "prevalent_wind", "dealer", "seat", *map(str, range(1, 35))])
    answer = send(client, {"action": "own_deals", "csv": "\n".join([head, *rows])})
    assert ("20 entered" in page, tiles[0] in page, rows[0] in answer.text) == (True, False, False)
    assert open_event(folder).faces(7)[1] == new_set(Random(7))[1]
    assert "not_committed" not in answer.text


def test_a_session_that_ends_before_it_begins_is_refused(client: httpx.Client, folder: Path) -> None:
    made(client, 3)
    answer = send(client, STEPS[4] | {"first_round-1": "2", "last_round-1": "1"})
    assert (answer.status_code, read_plan(folder).sessions) == (400, ())


def test_a_session_without_a_name_is_refused_and_kept_in_the_form(client: httpx.Client, folder: Path) -> None:
    made(client, 3)
    typed = {"name-1": "Friday", "first_round-1": "1", "last_round-1": "8", "name-2": " ", "first_round-2": "9"}
    page = send(client, {"action": "sessions", **typed, "starts-2": "2026-11-28T10:00"}).text
    assert "session 2 has no name" in page
    assert 'name="starts-2" type="datetime-local" value="2026-11-28T10:00"' in page
    assert read_plan(folder).sessions == ()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "round 20 is in no session"),
        ("fr", "la ronde 20 n’est dans aucune séance"),
        ("zh", "第 20 轮不属于任何场次"),
    ],
)
def test_sessions_that_do_not_fit_the_movement_are_reported(client: httpx.Client, language: str, said: str) -> None:
    made(client, 3)
    send(client, {"action": "sessions", "name-1": "Short", "first_round-1": "1", "last_round-1": "2"})
    page = client.get(f"/setup?lang={language}").text
    assert ("<code>session_rounds_wrong</code>" in page, said in page) == (True, True)


@pytest.mark.parametrize(("language", "said"), [("en", "4 plays in 1 round<"), ("fr", "4 parties en 1 ronde<")])
def test_one_round_is_named_in_the_singular(client: httpx.Client, language: str, said: str) -> None:
    made(client, upto=2)
    names = [f"p{number:02}" for number in range(1, 17)]
    lines = (f"1,{table},1,{','.join(names[4 * table - 4 : 4 * table])}" for table in range(1, 5))
    send(client, {"action": "movement", "csv": "\n".join(["round,table,deal,east,south,west,north", *lines])})
    assert said in client.get(f"/setup?lang={language}").text.replace(" ·", "<")
