"""Rulings at the desk over HTTP: every kind, right and refusal."""

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker.protocol import players_named as named_by
from broker.web.rulings.forms import table_groups
from broker.web.services import RULING_NOTED
from tests.broker.scorer import team_event
from tests.broker.scorer.folders import until_round
from tests.broker.scorer.small import event
from tests.broker.web.rulings.desks import NOW, Ruled, looked, opened, publish, ruling_desk, send
from tests.broker.web.test_auth import HOSTILE, logged_in
from tests.examples import COSTLY

PLAY = "1-2"
HERE = event().bookings[1, 2]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Ruled]:
    with ruling_desk(tmp_path / "cup") as made:
        yield made


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ruled]:
    """Return a desk on which every ruling is taken back by its test."""
    with ruling_desk(tmp_path_factory.mktemp("busy") / "cup") as made:
        yield made


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ruled]:
    """Return a desk on which nothing is ruled."""
    with ruling_desk(tmp_path_factory.mktemp("looked-at") / "cup") as made:
        yield made


KINDS = {
    "correct": {"win": "self_drawn", "hv-north": "30", "discarder": ""},
    "void": {},
    "adjusted": {"fault-east": "own", "fault-south": "others", "fault-west": "nobody", "imp-north": "-5"},
    "award": {"imp-east": "3"},
    "fine": {"fine-west": "8"},
    "seats_played": {"seat-east": HERE.players["west"], "seat-west": HERE.players["east"]}
    | {f"seat-{seat}": HERE.players[seat] for seat in ("south", "north")},
    "deal_played": {"played": str(HERE.deal % 4 + 1)},
}


WHO = [event().players[HERE.players[seat]].name for seat in ("east", "south", "west", "north")]
E, S, W, N = (f"{seat}: {name}" for seat, name in zip(("East", "South", "West", "North"), WHO, strict=True))
WAS = f"Won on a discard · {E} −32 (discarded) · {S} +36 (won, HV 12) · {W} −8 · {N} +36 (won, HV 12)"
NOWHERE = f"Points do not count · {E} · {S} · {W} · {N}"
GIVEN = ("−3 IMP (own fault)", "+3 IMP (opponents’ fault)", "0 IMP (nobody’s fault)", "−5 IMP")
SWAPPED = f"East: {WHO[2]} −32 (discarded) · {S} +36 (won, HV 12) · West: {WHO[0]} −8 · {N} +36 (won, HV 12)"
SAID = {
    "correct": ("", WAS, f"Self-drawn · {E} −18 · {S} −18 · {W} −18 · {N} +54 (won, HV 30)"),
    "void": ("", WAS, NOWHERE),
    "adjusted": (
        " · ".join(f"{who} {imp}" for who, imp in zip(WHO, GIVEN, strict=True)),
        f"{WAS} · No awards",
        f"{NOWHERE} · Awards: {WHO[0]} −3 IMP · {WHO[1]} +3 IMP · {WHO[3]} −5 IMP",
    ),
    "award": (f"{WHO[0]} +3 IMP", "No awards", f"Awards: {WHO[0]} +3 IMP"),
    "fine": (f"{WHO[2]} −8 IMP", "No fines", f"Fines: {WHO[2]} −8 IMP"),
    "seats_played": (
        "",
        WAS,
        f"Won on a discard · {SWAPPED}",
    ),
    "deal_played": ("", f"Deal {HERE.deal}", f"Deal {HERE.deal % 4 + 1}"),
}


def said(page: str) -> list[tuple[str, str, str]]:
    """Return the rulings described on a page: the decision, and the state before and after it."""
    parts = re.split(r'(?=<p class="what">)|(?=<dl class="before-after">)', page)
    what, found = "", []
    for part in parts:
        if part.startswith("<p"):
            what = html.unescape(part[len('<p class="what">') : part.index("</p>")])
        elif part.startswith("<dl"):
            was, now = (html.unescape(re.sub("<[^>]*>", "", one)) for one in re.findall(r"<dd>(.*?)</dd>", part)[:2])
            found.append((what, was, now))
            what = ""
    return found


def test_a_change_of_language_keeps_the_play(looked_at: Ruled) -> None:
    with logged_in(looked_at.server, "head_arbiter") as client:
        page = client.get(f"/rulings/new?play={PLAY}&kind=void&lang=en").text
    assert f'href="/rulings/new?play={PLAY}&amp;kind=void&amp;lang=fr"' in page


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_ruling_is_previewed_published_and_taken_back(busy: Ruled, kind: str) -> None:
    count = len(busy.kinds)
    with logged_in(busy.server, "table_arbiter") as client:
        before = client.get("/standings.csv").text
        fields = opened(client, f"/rulings/new?play={PLAY}&kind={kind}") | KINDS[kind]
        looked = client.post("/rulings/new", data=fields | {"action": "look"})
        assert (looked.status_code, busy.kinds[count:], client.get("/standings.csv").text) == (200, [], before)
        assert 'value="publish"' in looked.text
        assert said(looked.text) == [SAID[kind]]
        assert publish(client, fields).status_code == 303
        assert busy.kinds[count:] == [(kind, True)]
        moved = client.get("/standings.csv").text != before
        assert said(client.get("/rulings").text)[0] == SAID[kind]
        undo = opened(client, f"/rulings/new?undo={fields['id']}")
        assert publish(client, undo).status_code == 303
        assert (client.get("/standings.csv").text, busy.kinds[count:]) == (before, [(kind, False), ("undo", True)])
        (what, was, now), done = said(client.get("/rulings").text)[:2]
        assert (was, now, done) == (*SAID[kind][:0:-1], SAID[kind])
        assert what.endswith("seen by the arbiter")
    assert moved


def test_plays_and_deals_are_found_by_number_or_refused(looked_at: Ruled) -> None:
    with logged_in(looked_at.server, "head_arbiter") as client:
        found = client.get("/rulings/new?table=1&round=2").text
        wrong = [client.get(f"/rulings/new?{asked}") for asked in ("table=9&round=2", "table=1&round=x", "deal=99")]
    assert "play=1-2&amp;kind=correct" in found
    assert [answer.status_code for answer in wrong] == [400, 400, 400]
    said = ["unknown_play" in wrong[0].text, "unknown_play" in wrong[1].text, "unknown_deal" in wrong[2].text]
    assert (said, 'name="table" type="number"' in wrong[0].text, 'value="9"' in wrong[0].text) == (
        [True] * 3,
        True,
        True,
    )


def test_players_are_given_by_id_or_name_in_rulings_and_filters(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        for named in ("p07", " player  7 ", "PLAYER 7"):
            fields = opened(client, "/rulings/new?kind=award") | {"player": named, "imp-player": "3"}
            assert publish(client, fields).status_code == 303
        wrong = opened(client, "/rulings/new?kind=fine") | {"player": "Player", "fine-player": "4"}
        several = send(client, wrong).text
        nobody = send(client, wrong | {"player": "Nobody <b>"}).text
        fined = opened(client, "/rulings/new?kind=fine") | {"player": "p12", "fine-player": "4"}
        assert publish(client, fined).status_code == 303
        pages = [client.get(f"/rulings?player={who}").text for who in ("Player+7", "player", "Nobody")]
        file_of_all = client.get("/rulings.csv?player=player").text
    about = [[*named_by(entry.decision)] for entry in desk.scorer.rulings.history()]
    assert sorted(about) == [["p07"]] * 3 + [["p12"]]
    assert ("player_ambiguous" in several, "Player 1 (p01), Player 2 (p02)" in several) == (True, True)
    assert ("nobody_of_event" in nobody, 'value="Nobody &lt;b&gt;"' in nobody) == (True, True)
    assert [page.count('<li class="note"') for page in pages] == [3, 4, 0]
    assert file_of_all.count("\n") == 5


def test_a_form_refused_as_a_whole_keeps_what_was_typed(looked_at: Ruled) -> None:
    with logged_in(looked_at.server, "head_arbiter") as client:
        fields = opened(client, f"/rulings/new?play={PLAY}&kind=correct") | {"reason": "East had 18", "hv-east": "18"}
        answer = send(client, fields | {"form": "of another session"})
    assert (answer.status_code, "form_foreign" in answer.text) == (403, True)
    assert ['value="East had 18"' in answer.text, 'name="hv-east"' in answer.text] == [True, True]


GONE = "from round 3 and is not replaced: 0 IMP (nobody’s fault) per play, +3 IMP for each of the other three"
OF_WHO_PLAYS_SAID = {
    "substitute": ("Ada Reserve plays for Player 7 from round 3", "Player 7 plays", "Ada Reserve plays"),
    "withdrawn": (
        f"Player 7 leaves {GONE}",
        "Player 7 plays",
        "Nobody plays",
    ),
}
OF_WHO_PLAYS = {
    "substitute": {"player": "p07", "first_round": "3", "name": " Ada   Reserve "},
    "withdrawn": {"player": "p07", "first_round": "3", "fault": "nobody"},
}


@pytest.mark.parametrize("kind", OF_WHO_PLAYS)
def test_an_absence_is_previewed_with_its_plays_published_and_taken_back(tmp_path: Path, kind: str) -> None:
    with ruling_desk(tmp_path / "cup", until_round(2)) as half, logged_in(half.server, "head_arbiter") as client:
        fields = opened(client, f"/rulings/new?kind={kind}") | OF_WHO_PLAYS[kind]
        looked = client.post("/rulings/new", data=fields | {"action": "look"}).text
        coming = re.findall(r"<li>Round (\d) ", looked.split('id="coming"')[1])
        assert (coming, half.kinds) == (["3", "4"], [])
        assert publish(client, fields).status_code == 303
        assert said(looked)[0] in said(client.get("/rulings").text)
        assert said(looked)[0] == OF_WHO_PLAYS_SAID[kind]
        assert publish(client, opened(client, f"/rulings/new?undo={fields['id']}")).status_code == 303
        assert half.kinds == [(kind, False), ("undo", True)]


def test_deals_can_be_grouped_and_imps_given_outside_plays(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        assert publish(client, opened(client, "/rulings/new?deal=2") | {"groups": "1-2\n3, 4"}).status_code == 303
        beside = opened(client, "/rulings/new?kind=award") | {"player": "p07", "imp-player": "-3"}
        assert publish(client, beside).status_code == 303
        assert publish(client, opened(client, "/rulings/new?kind=deadline") | {"minutes": "30"}).status_code == 303
        page = client.get("/rulings").text
    assert desk.kinds == [("fouled", True), ("award", True), ("deadline", True)]
    assert desk.scorer.rulings.room.book.deadline == NOW + 30 * 60_000
    assert "1 2 | 3 4" in page


def test_a_ruling_with_unseen_or_changed_effects_is_previewed_again(desk: Ruled) -> None:
    table, round_ = next(key for key in desk.scorer.rulings.room.plays_with(HERE.deal) if key != (1, 2))
    with logged_in(desk.server, "head_arbiter") as client:
        fields = opened(client, f"/rulings/new?play={PLAY}&kind=void")
        blind = send(client, fields)
        seen = looked(client, fields)
        publish(client, opened(client, f"/rulings/new?play={table}-{round_}&kind=void"))
        late = send(client, seen)
        assert [("effects_changed" in page.text, page.status_code) for page in (blind, late)] == [(True, 400)] * 2
        assert desk.kinds == [("void", True)]
        assert publish(client, fields).status_code == 303


def test_only_published_rulings_are_in_the_audit_log(desk: Ruled) -> None:
    with logged_in(desk.server, "table_arbiter") as client:
        fields = looked(client, opened(client, f"/rulings/new?play={PLAY}&kind=void"))
        again = fields | {"id": "another-ruling-id"}
        publish(client, fields)
        assert "ruling_conflict" in publish(client, again).text
        assert (
            client.post("/rulings/new", data=fields | {"action": "publish"}).status_code == 303
        )  # a form sent twice is one ruling
    noted = [entry.about for entry in desk.auth.audit.checked() if entry.action == RULING_NOTED]
    assert (set(noted), desk.kinds) == ({fields["id"]}, [("void", True)])


def test_a_missing_audit_entry_is_written_at_the_next_start(desk: Ruled) -> None:
    with logged_in(desk.server, "table_arbiter") as client:
        publish(client, opened(client, f"/rulings/new?play={PLAY}&kind=void"))
    count = len(list(desk.auth.audit.entries()))
    desk.rulings.note_missing()
    assert len(list(desk.auth.audit.entries())) == count
    with desk.auth.store.commit() as sql:
        sql.exec_driver_sql("DROP TRIGGER audit_append_only_delete")
        sql.exec_driver_sql("DELETE FROM audit WHERE action = ?", (RULING_NOTED,))
    desk.rulings.note_missing()
    assert [entry.who for entry in desk.auth.audit.entries() if entry.action == RULING_NOTED] == ["table_arbiter"]


def test_corrections_end_at_the_time_shown_in_the_preview(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        fields = looked(client, opened(client, "/rulings/new?kind=deadline") | {"minutes": "30"})
        for _ in range(2):
            desk.now += 60_000
            assert send(client, fields).status_code == 303
    assert (desk.kinds, desk.scorer.rulings.room.book.deadline) == ([("deadline", True)], NOW + 30 * 60_000)


def test_a_table_arbiter_is_refused_after_the_correction_period(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        publish(client, opened(client, "/rulings/new?kind=deadline") | {"minutes": "0"})
    desk.now += 1
    with logged_in(desk.server, "table_arbiter") as client:
        answer = publish(client, opened(client, f"/rulings/new?play={PLAY}&kind=void"))
        told = [client.get(path).text for path in ("/rulings", f"/rulings/new?play={PLAY}&kind=void")]
    assert "corrections_closed" in answer.text
    assert ['id="closed"' in page for page in told] == [True, True]  # shown before they fill in a form
    assert desk.kinds == [("deadline", True)]
    with logged_in(desk.server, "head_arbiter") as client:
        assert 'id="closed"' not in client.get("/rulings").text


@pytest.mark.parametrize("role", ["organiser", "display"])
def test_only_arbiters_may_read_or_make_rulings(looked_at: Ruled, role: str) -> None:
    with logged_in(looked_at.server, role) as client:
        paths = ("/rulings", "/rulings.csv", "/rulings.json", f"/rulings/new?play={PLAY}", "/what-if?profile=mcr")
        assert {client.get(path).status_code for path in paths} == {403}
        assert client.post("/rulings/new", data={"kind": "void", "play": PLAY}).status_code == 403
    assert looked_at.kinds == []


def test_a_stolen_session_or_foreign_form_makes_no_ruling(looked_at: Ruled) -> None:
    with logged_in(looked_at.server, "head_arbiter") as client:
        fields = opened(client, f"/rulings/new?play={PLAY}&kind=void")
        foreign = client.post(
            "/rulings/new", data=fields | {"action": "publish"}, headers={"Origin": "http://elsewhere.example"}
        )
        forged = publish(client, fields | {"form": "0" * 43})
        moved = client.post(
            "/rulings/new", data=fields | {"action": "publish"}, headers={"User-Agent": "another browser"}
        )
    assert [answer.status_code for answer in (foreign, forged, moved)] == [403, 403, 401]
    assert looked_at.kinds == []


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"kind": "correct", "win": "discard", "hv-east": "12", "discarder": "east"}, "impossible_result"),
        ({"kind": "correct", "win": "lost"}, "ending_missing"),
        ({"kind": "fine", "fine-east": "a lot"}, "number_unreadable"),
        ({"kind": "fine"}, "nothing_given"),
        ({"kind": "fine", "fine-east": "100"}, "imp_out_of_range"),
        ({"kind": "award", "imp-east": "-100"}, "imp_out_of_range"),
        ({"kind": "award", "play": "", "player": "", "imp-player": "3"}, "player_missing"),
        ({"kind": "substitute", "player": "", "name": "X", "first_round": "2"}, "player_missing"),
        ({"kind": "substitute", "player": "p01", "name": " ", "first_round": "2"}, "substitute_unnamed"),
        ({"kind": "withdrawn", "player": "p01"}, "round_missing"),
        ({"kind": "withdrawn", "player": "p01", "first_round": "2", "fault": "luck"}, "bad_ruling"),
        ({"kind": "seats_played", "seat-east": "?"}, "nobody_of_event"),
        ({"kind": "deal_played"}, "unknown_deal"),
        ({"kind": "fouled", "play": "", "deal": "1"}, "groups_wrong"),
        ({"kind": "void", "play": ""}, "subject_missing"),
        ({"kind": "void", "reason": " "}, "reason_wrong"),
        ({"kind": "void", "id": "<script>"}, "bad_ruling"),
        ({"kind": "void", "play": "9-9"}, "unknown_play"),
        ({"kind": "conquest"}, "ruling_kind_missing"),
        ({"kind": "deadline", "minutes": "-5"}, "deadline_out_of_range"),
        ({"kind": "deadline", "minutes": " "}, "deadline_out_of_range"),
    ],
)
def test_an_invalid_field_is_refused_with_its_code(looked_at: Ruled, fields: dict[str, str], code: str) -> None:
    with logged_in(looked_at.server, "head_arbiter") as client:
        answer = publish(client, opened(client, f"/rulings/new?play={PLAY}&kind=void") | fields)
    assert f"<code>{code}</code>" in answer.text
    assert looked_at.kinds == []


def test_a_refusal_is_translated_with_its_values(looked_at: Ruled) -> None:
    low = {"win": "discard", "hv-south": "3", "discarder": "north", "action": "look"}
    with logged_in(looked_at.server, "table_arbiter") as client:
        fields = opened(client, f"/rulings/new?play={PLAY}&kind=correct") | low
        answer = client.post("/rulings/new?lang=fr", data=fields)
    assert (
        "La valeur de la main est sous le minimum pour gagner. "
        '<span class="detail">(Sud\N{NO-BREAK SPACE}: 3, sous le minimum de 8)</span> <code>impossible_result</code>'
    ) in answer.text


@given(st.dictionaries(st.sampled_from([*KINDS["adjusted"], "kind", "play", "undo", "deal", "groups", "id"]), HOSTILE))
@settings(COSTLY, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_hostile_input_is_refused_and_never_echoed_as_html(looked_at: Ruled, fields: dict[str, str]) -> None:
    with logged_in(looked_at.server, "head_arbiter") as client:
        answer = publish(client, opened(client, f"/rulings/new?play={PLAY}&kind=award") | fields)
    assert answer.status_code == 400
    assert "<script>alert" not in answer.text
    assert looked_at.kinds == []


def test_what_if_shows_changed_places_and_publishes_nothing(looked_at: Ruled) -> None:
    with logged_in(looked_at.server, "table_arbiter") as client:
        before = client.get("/standings.csv").text
        same = client.get("/what-if?profile=&lang=en").text
        other = client.get("/what-if?profile=mcr&method=cross&lang=en").text
        refused = client.get("/what-if?profile=nothing&lang=en")
        assert client.get("/standings.csv").text == before
    assert "Places that would change: 0 of 16" in same
    assert "Places that would change: 16 of 16" in other
    assert "unknown_profile" in refused.text


@pytest.mark.parametrize(("text", "found"), [("1 2\n\n5-7", ((1, 2), (5, 6, 7))), ("3、4;9", ((3, 4, 9),)), ("", ())])
def test_groups_are_parsed_one_per_line(text: str, found: tuple[tuple[int, ...], ...]) -> None:
    assert table_groups(text) == found


PAGE_LINK = re.compile(r'<a href="(/[^"]*)"')


def test_links_from_a_ruling_keep_the_language(tmp_path: Path) -> None:
    said = [one for table in range(1, 5) for round_ in range(1, 5) for one in team_event.said(table, round_)]
    with (
        ruling_desk(tmp_path / "cup", said, team_event.team_event().plan) as desk,
        logged_in(desk.server, "head_arbiter") as client,
    ):
        fields = opened(client, f"/rulings/new?play={PLAY}&kind=award&lang=zh") | {"imp-east": "60"}
        looks = client.post("/rulings/new?lang=zh", data=fields | {"action": "look"}).text
        assert publish(client, fields).status_code == 303
        pages = [client.get(one).text for one in ("/rulings?lang=zh", "/what-if?profile=mahjongsoft&lang=zh")]
        pages.append(client.get(f"/rulings/new?play={PLAY}&lang=zh").text)
        links = {html.unescape(one) for page in (looks, *pages) for one in PAGE_LINK.findall(page)}
        links = {one for one in links if not re.search(r"\.(csv|json|pdf)\b", one)}
        assert {one for one in links if "lang=" not in one} == set()
        assert {"/team/1?lang=zh", "/player/p01?lang=zh", f"/rulings?play={PLAY}&lang=zh"} <= links
        assert {one for one in links if client.get(one).status_code != 200} == set()
