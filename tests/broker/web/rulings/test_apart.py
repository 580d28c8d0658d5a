"""Plays kept apart: arbiters see them, and the head arbiter decides and can take the decision back."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from broker.protocol import PlanChanged
from tests.broker.rulings.ruled import HEAD, draft
from tests.broker.scorer.hall import put
from tests.broker.scorer.small import NAME, fact, result
from tests.broker.web.rulings.desks import Ruled, opened, publish, ruling_desk
from tests.broker.web.test_auth import logged_in

PLAY = (1, 4)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Ruled]:
    """A desk that has only received the result of table 1's last play."""
    with ruling_desk(tmp_path / NAME, []) as made:
        put(made.scorer, fact(1, 1, result(*PLAY)))
        made.scorer.ask(lambda: None)
        yield made


def section(client: httpx.Client) -> str:
    """Return the text about plays kept apart on the page of rulings."""
    found = re.search(r'<section aria-labelledby="apart">.*?</section>', client.get("/rulings?lang=en").text, re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", found[0] if found else "").split())


def test_the_desk_shows_what_was_sent_what_is_missing_and_why(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        said = section(client)
        room = client.get("/?lang=en").text
    assert "Table 1 · Round 4" in said
    assert "Sent result" in said
    assert "East: Player" in said
    assert "Missing walls restored, players checked in, tiles confirmed" in said
    assert "Why It was not its turn: an earlier play of this table has no result." in said
    assert "To decide: plays kept apart: 1." in room


def test_the_head_arbiter_can_let_a_play_count_and_take_that_back(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        publish(client, opened(client, "/rulings/new?play=1-4&kind=taken_over"))
        counted = desk.scorer.rulings.room.play(PLAY)
        assert (counted.points, section(client)) == (result(*PLAY).points, "")
        (ruling,) = desk.scorer.rulings.history()
        publish(client, opened(client, f"/rulings/new?undo={ruling.id}"))
        assert desk.scorer.rulings.room.play(PLAY).points is None
        assert "Table 1 · Round 4" in section(client)
    assert desk.kinds == [("taken_over", False), ("undo", True)]


def test_a_play_dropped_from_the_plan_can_be_left_out(desk: Ruled) -> None:
    drop = draft(desk.scorer.state, PlanChanged(dropped=(PLAY[::-1],)))
    desk.scorer.ask(lambda: desk.scorer.rulings.give(drop, HEAD))
    with logged_in(desk.server, "head_arbiter") as client:
        assert "Table 1 · Round 4" in section(client)
        publish(client, opened(client, "/rulings/new?play=1-4&kind=discarded"))
        assert section(client) == ""


def test_the_form_says_if_a_play_was_dropped_from_the_plan(desk: Ruled) -> None:
    drop = draft(desk.scorer.state, PlanChanged(dropped=((4, 2),)))
    desk.scorer.ask(lambda: desk.scorer.rulings.give(drop, HEAD))
    with logged_in(desk.server, "head_arbiter") as client:
        pages = [client.get(f"/rulings/new?play={play}&lang=en").text for play in ("2-4", "1-4", "2-3")]
    assert ["no play takes place here" in page for page in pages] == [True, False, False]


def test_a_play_that_was_left_out_is_no_longer_listed(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        publish(client, opened(client, "/rulings/new?play=1-4&kind=discarded"))
        assert (desk.scorer.rulings.room.play(PLAY).settled, section(client)) == (False, "")


def test_a_table_arbiter_sees_plays_kept_apart_but_cannot_decide(desk: Ruled) -> None:
    with logged_in(desk.server, "table_arbiter") as client:
        assert "Table 1 · Round 4" in section(client)
        assert "Let it count" not in section(client)
        form = client.get("/rulings/new?play=1-4&kind=taken_over&lang=en").text
    assert 'value="taken_over"' not in form


def test_only_arbiters_see_plays_kept_apart(desk: Ruled) -> None:
    with logged_in(desk.server, "display") as client:
        assert (client.get("/rulings").status_code, "kept apart" in client.get("/?lang=en").text) == (403, False)
        assert client.get("/view.json").json()["apart"] == 0


def test_a_decision_on_a_changed_play_is_shown_again_first(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        one = opened(client, "/rulings/new?play=1-4&kind=taken_over")
        publish(client, opened(client, "/rulings/new?play=1-4&kind=discarded"))
        answer = client.post("/rulings/new?lang=en", data=one | {"reason": "again", "action": "publish"})
    assert "added after you opened the form" in answer.text
