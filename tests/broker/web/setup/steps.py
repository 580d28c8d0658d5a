"""The steps by which an event is set up in a browser, as forms that are sent."""

import httpx

from tests.broker.web.test_auth import token_of

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


def send(client: httpx.Client, data: dict[str, str]) -> httpx.Response:
    return client.post("/setup", data={"form": token_of(client, "/setup"), **data}, timeout=30, follow_redirects=True)


def made(client: httpx.Client, upto: int = len(STEPS)) -> httpx.Response:
    """Go through the steps; each must be kept."""
    for step in STEPS[:upto]:
        answer = send(client, step)
        assert (answer.status_code, 'id="done"' in answer.text) == (200, True), answer.text
    return answer
