"""The steps of setting an event up, as the forms that a browser sends."""

from typing import Final
from weakref import WeakKeyDictionary

import httpx

from tests.broker.web.test_auth import token_of
from tests.patience import PATIENCE_S

PLAYERS = "name,country,club\n" + "".join(f"Player {n} 李,FRA,Club\n" for n in range(1, 17))
HEAD = {"action": "head", "name": "cup-2026", "title": "Club cup", "profile": "oedmc-2020", "rules": ""}
STEPS = (
    HEAD,
    {"action": "players", "csv": PLAYERS},
    {"action": "make_movement", "rounds": "5"},
    {"action": "deals"},
    {
        "action": "sessions",
        "name-1": "Friday",
        "first_round-1": "1",
        "last_round-1": "20",
        "starts-1": "2026-05-01T19:30",
        "play_minutes-1": "25",
    },
)


FORM_TOKENS: Final = WeakKeyDictionary[httpx.Client, str]()
"""Form tokens by client: a session's token never changes, so it is read from the page only once."""


def send(client: httpx.Client, data: dict[str, str], *, follow: bool = True) -> httpx.Response:
    if client not in FORM_TOKENS:
        FORM_TOKENS[client] = token_of(client, "/setup")
    form = {"form": FORM_TOKENS[client], **data}
    return client.post("/setup", data=form, timeout=PATIENCE_S, follow_redirects=follow)


def made(client: httpx.Client, upto: int = len(STEPS)) -> httpx.Response:
    """Send the steps up to this one and assert that each is saved; return the last answer."""
    for step in STEPS[: upto - 1]:
        answer = send(client, step, follow=False)
        assert (answer.status_code, "?done=" in answer.headers["location"]) == (303, True)
    answer = send(client, STEPS[upto - 1])
    assert (answer.status_code, 'id="done"' in answer.text) == (200, True), answer.text
    return answer
