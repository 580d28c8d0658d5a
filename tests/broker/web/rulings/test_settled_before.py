"""The alert about a result that does not count links to taking the ruling back, for those who may rule."""

import re
from pathlib import Path

from tests.broker.scorer.hall import put
from tests.broker.scorer.small import result, whole_play
from tests.broker.web.rulings.desks import opened, publish, ruling_desk
from tests.broker.web.test_auth import logged_in

BACK = re.compile(r'href="(/rulings/new\?undo=[^"]+)"')


def test_the_alert_links_to_taking_the_ruling_back(tmp_path: Path) -> None:
    with ruling_desk(tmp_path / "cup", []) as desk, logged_in(desk.server, "head_arbiter") as client:
        publish(client, opened(client, "/rulings/new?play=1-1&kind=void"))
        put(desk.scorer, *whole_play(1))
        for _ in range(2):  # the second returns after everything that follows from the first batch
            desk.scorer.ask(lambda: None)
        ways = [BACK.findall(client.get(page).text) for page in ("/", "/grid")]
        with logged_in(desk.server, "organiser") as other:
            none = BACK.findall(other.get("/").text)
        assert ([len(found) for found in ways], ways[0] == ways[1], none) == ([1, 1], True, [])
        publish(client, opened(client, ways[0][0].replace("&amp;", "&")))
        assert desk.scorer.rulings.room.play((1, 1)).points == result(1).points
