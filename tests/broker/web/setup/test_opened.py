"""Two windows with the set-up open: neither overwrites a change of the other without showing it."""

import re
from html import unescape
from pathlib import Path

import httpx
import pytest

from broker.event import read_plan
from tests.broker.web.setup.steps import HEAD, PLAYERS, STEPS, made, send


def opened(client: httpx.Client) -> dict[str, str]:
    """Open the page; return the field with the marks that all its forms carry."""
    page = client.get("/setup").text
    forms = page.count('<input type="hidden" name="step"')
    marks = re.findall(r'<input type="hidden" name="opened" value="([^"]*)">', page)
    assert (len(marks), len({*marks})) == (forms, 1)
    return {"opened": unescape(marks[0])}


def field(page: str, name: str) -> str:
    found = re.search(rf'<(?:input|textarea) name="{name}"[^>]*?(?: value="([^"]*)"|>([^<]*)</textarea>)', page)
    assert found
    return found[1] or found[2] or ""


def test_another_windows_title_is_shown_and_not_overwritten(client: httpx.Client, folder: Path) -> None:
    made(client, 1)
    here = opened(client)
    send(client, {**HEAD, "title": "Coupe <de> Lille"})
    answer = send(client, {**HEAD, "prizes": "A cup\r\nA medal", "keep_plays": "yes", **here})
    assert (answer.status_code, "<code>setup_changed</code>" in answer.text) == (400, True)
    assert "Title, now: Coupe &lt;de&gt; Lille" in answer.text
    assert (field(answer.text, "title"), field(answer.text, "prizes")) == ("Coupe &lt;de&gt; Lille", "A cup\r\nA medal")
    assert 'name="keep_plays" value="yes" checked' in answer.text
    plan = read_plan(folder)
    assert (plan.title, plan.prizes, plan.keep_plays) == ("Coupe <de> Lille", (), False)


def test_a_typed_value_is_kept_and_saved_when_sent_again(client: httpx.Client, folder: Path) -> None:
    made(client, 1)
    here = opened(client)
    send(client, {**HEAD, "title": "Theirs", "keying": "double"})
    page = send(client, {**HEAD, "title": "Ours", **here}).text
    assert "Title, now: Theirs; Results from paper sheets, now: two people enter each sheet" in page
    assert (field(page, "title"), 'value="double" checked' in page) == ("Ours", True)
    assert send(client, {**HEAD, "title": "Ours", "keying": "double"} | opened(client), follow=False).is_redirect
    assert (read_plan(folder).title, read_plan(folder).keying) == ("Ours", "double")


def test_the_first_step_can_be_saved_in_only_one_of_two_windows(client: httpx.Client, folder: Path) -> None:
    here = opened(client)
    made(client, 1)
    assert "<code>setup_changed</code>" in send(client, {**HEAD, "title": "Ours", **here}).text
    assert read_plan(folder).title == HEAD["title"]


@pytest.mark.usefixtures("folder", "hurried")
@pytest.mark.parametrize(
    ("upto", "theirs", "ours", "what"),
    [
        (1, STEPS[1], {"action": "players", "csv": "Zoe\n"}, "Players"),
        (1, STEPS[1], {"action": "check_players", "csv": "Zoe\n"}, "Players"),
        (2, {"action": "make_movement", "rounds": "4"}, STEPS[2], "3. Movement"),
        (2, STEPS[2], {"action": "players", "csv": PLAYERS + "Zoe,,\n", "movement_anew": "yes"}, "3. Movement"),
        (3, STEPS[2] | {"rounds": "4"}, {"action": "deals"}, "3. Movement"),
        (4, {"action": "take_out", "sure": "yes"}, {"action": "take_out", "sure": "yes"}, "4. Deals and sets"),
        (4, STEPS[4], {**STEPS[4], "name-1": "Saturday"}, "5. Sessions and clocks"),
    ],
)
def test_a_step_based_on_changed_parts_is_refused(
    client: httpx.Client, upto: int, theirs: dict[str, str], ours: dict[str, str], what: str
) -> None:
    made(client, upto)
    here = opened(client)
    assert send(client, theirs, follow=False).status_code == 303
    answer = send(client, {**ours, "step": "players", **here})
    assert ("<code>setup_changed</code>" in answer.text, f"({what})" in answer.text) == (True, True)
    typed = ours.get("csv") or ours.get("name-1") or ""
    assert typed.replace("\r\n", "\n").strip() in unescape(answer.text)
    assert "<code>setup_changed</code>" not in send(client, {**ours, **opened(client)}).text


@pytest.mark.usefixtures("folder")
def test_independent_steps_can_be_saved_from_two_windows(client: httpx.Client) -> None:
    made(client, 1)
    here = opened(client)
    assert send(client, {**HEAD, "title": "Theirs"}, follow=False).status_code == 303
    assert send(client, {**STEPS[1], **here}, follow=False).status_code == 303


def test_a_button_pressed_twice_acts_once_without_a_conflict(client: httpx.Client, folder: Path) -> None:
    for step in STEPS[:4]:
        form = {**step, **opened(client)}
        assert [send(client, form, follow=False).status_code for _ in range(2)] == [303, 303]
    before = (folder / "deals.json").read_bytes()
    form = {"action": "take_out", "sure": "yes", **opened(client)}
    assert [send(client, form, follow=False).status_code for _ in range(2)] == [303, 303]
    assert [one.read_bytes() for one in folder.glob("taken-out-*-deals.json")] == [before]


def test_an_unticked_box_stays_unticked_in_a_refused_form(client: httpx.Client, folder: Path) -> None:
    send(client, {**HEAD, "keep_plays": "yes"})
    page = send(client, {**HEAD, "title": " ", **opened(client)}).text
    assert ('name="keep_plays" value="yes">' in page, read_plan(folder).keep_plays) == (True, True)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("marks", ["", "[]", '{"title": 1}', "\u00e9", "{"])
def test_invalid_marks_are_ignored(client: httpx.Client, marks: str) -> None:
    assert send(client, {**HEAD, "opened": marks}, follow=False).status_code == 303
