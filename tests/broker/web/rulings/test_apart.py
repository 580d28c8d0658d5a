"""What is kept apart, at the desk: everybody who rules sees it, the head arbiter decides, and can take that back."""

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
    """A desk to which table 1 has sent the result of its last play, and nothing else."""
    with ruling_desk(tmp_path / NAME, []) as made:
        put(made.scorer, fact(1, 1, result(*PLAY)))
        made.scorer.ask(lambda: None)
        yield made


def section(client: httpx.Client) -> str:
    """Return what the page of rulings says of what is kept apart."""
    found = re.search(r'<section aria-labelledby="apart">.*?</section>', client.get("/rulings?lang=en").text, re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", found[0] if found else "").split())


def test_the_desk_says_what_was_sent_what_is_missing_and_why(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        said = section(client)
        room = client.get("/?lang=en").text
    assert "Table 1 · Round 4" in said
    assert "Sent result" in said
    assert "East: Player" in said
    assert "Missing walls restored, players checked in, tiles confirmed" in said
    assert "Why It was not its turn: an earlier play of this table has no result." in said
    assert "To decide: plays kept apart: 1." in room


def test_the_head_arbiter_lets_it_count_and_takes_that_back(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        publish(client, opened(client, "/rulings/new?play=1-4&kind=taken_over"))
        counted = desk.scorer.rulings.room.play(PLAY)
        assert (counted.points, section(client)) == (result(*PLAY).points, "")
        (ruling,) = desk.scorer.rulings.history()
        publish(client, opened(client, f"/rulings/new?undo={ruling.id}"))
        assert desk.scorer.rulings.room.play(PLAY).points is None
        assert "Table 1 · Round 4" in section(client)
    assert desk.kinds == [("taken_over", False), ("undo", True)]


def test_it_is_left_out_where_its_play_is_in_the_plan_no_more(desk: Ruled) -> None:
    drop = draft(desk.scorer.state, PlanChanged(dropped=(PLAY[::-1],)))
    desk.scorer.ask(lambda: desk.scorer.rulings.give(drop, HEAD))
    with logged_in(desk.server, "head_arbiter") as client:
        assert "Table 1 · Round 4" in section(client)
        publish(client, opened(client, "/rulings/new?play=1-4&kind=discarded"))
        assert section(client) == ""


def test_of_a_play_that_is_in_the_plan_no_more_and_was_not_sent_the_page_says_so(desk: Ruled) -> None:
    drop = draft(desk.scorer.state, PlanChanged(dropped=((4, 2),)))
    desk.scorer.ask(lambda: desk.scorer.rulings.give(drop, HEAD))
    with logged_in(desk.server, "head_arbiter") as client:
        pages = [client.get(f"/rulings/new?play={play}&lang=en").text for play in ("2-4", "1-4", "2-3")]
    assert ["no play takes place here" in page for page in pages] == [True, False, False]


def test_what_the_head_arbiter_leaves_out_is_listed_no_more_and_counts_for_nothing(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        publish(client, opened(client, "/rulings/new?play=1-4&kind=discarded"))
        assert (desk.scorer.rulings.room.play(PLAY).settled, section(client)) == (False, "")


def test_a_table_arbiter_sees_it_and_decides_nothing(desk: Ruled) -> None:
    with logged_in(desk.server, "table_arbiter") as client:
        assert "Table 1 · Round 4" in section(client)
        assert "Let it count" not in section(client)
        form = client.get("/rulings/new?play=1-4&kind=taken_over&lang=en").text
    assert 'value="taken_over"' not in form


def test_who_is_no_arbiter_learns_nothing_of_it(desk: Ruled) -> None:
    with logged_in(desk.server, "display") as client:
        assert (client.get("/rulings").status_code, "kept apart" in client.get("/?lang=en").text) == (403, False)
        assert client.get("/view.json").json()["apart"] == 0


def test_what_has_changed_meanwhile_is_looked_at_again(desk: Ruled) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        one = opened(client, "/rulings/new?play=1-4&kind=taken_over")
        publish(client, opened(client, "/rulings/new?play=1-4&kind=discarded"))
        answer = client.post("/rulings/new?lang=en", data=one | {"reason": "again", "action": "publish"})
    assert "added after you opened the form" in answer.text
