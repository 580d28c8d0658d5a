"""Hostile text in addresses and in forms open to everybody is answered and never echoed as HTML."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.broker.scorer.small import whole_log
from tests.broker.web.rulings.desks import Ruled, ruling_desk
from tests.broker.web.test_auth import HOSTILE, browser, logged_in
from tests.examples import COSTLY

pytestmark = pytest.mark.slow

ASKED: Final = ("page", "table", "kind", "text", "lang", "play", "deal", "player", "author", "counts", "undo", "played")
WHAT_IF: Final = ("profile", "method", "own_score", "gap", "rounding")
OF_ARBITERS: Final = (
    *("/", "/grid", "/wire", "/rulings", "/rulings.csv", "/rulings.json", "/rulings/new", "/what-if"),
    *("/standings", "/deals", "/carriers", "/view.json", "/display"),
)
OF_EVERYBODY: Final = ("/login", "/welcome", "/receipt", "/display")
NAMES: Final = st.sampled_from((*ASKED, *WHAT_IF, "code", "token", "x"))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ruled]:
    folder: Path = tmp_path_factory.mktemp("hostile")
    with ruling_desk(folder, whole_log(1)) as made:
        yield made


def written(fields: dict[str, str]) -> str:
    """Encode fields as a query."""
    return urlencode(fields, errors="replace")


@COSTLY
@given(fields=st.dictionaries(NAMES, HOSTILE, min_size=1, max_size=6))
def test_any_query_from_an_arbiter_gets_a_page_or_a_refusal(desk: Ruled, fields: dict[str, str]) -> None:
    with logged_in(desk.server, "head_arbiter") as client:
        answers = {path: client.get(f"{path}?{written(fields)}") for path in OF_ARBITERS}
    assert {path: one.status_code for path, one in answers.items() if one.status_code not in {200, 400, 404}} == {}
    assert [path for path, one in answers.items() if "<script>alert" in one.text] == []


@COSTLY
@given(fields=st.dictionaries(NAMES, HOSTILE, min_size=1, max_size=4), code=HOSTILE)
def test_any_query_without_a_login_is_answered_and_grants_nothing(
    desk: Ruled, fields: dict[str, str], code: str
) -> None:
    with browser(desk.server) as client:
        paths = (*OF_EVERYBODY, f"/receipt/{quote(code, safe='', errors='replace')}")
        answers = {path: client.get(f"{path}?{written(fields)}") for path in paths}
        opened = client.cookies
    assert {path: one.status_code for path, one in answers.items() if not 200 <= one.status_code < 500} == {}
    assert [path for path, one in answers.items() if "<script>alert" in one.text] == []
    assert dict(opened) == {}


@COSTLY
@given(
    path=st.sampled_from(("/login", "/welcome")),
    fields=st.dictionaries(st.sampled_from(("name", "full", "password", "token", "form")), HOSTILE, min_size=1),
)
def test_hostile_text_in_a_login_form_is_refused_without_a_session(
    desk: Ruled, path: str, fields: dict[str, str]
) -> None:
    with browser(desk.server) as client:
        answer = client.post(
            path, content=written(fields), headers={"Content-Type": "application/x-www-form-urlencoded"}
        )
        assert dict(client.cookies) == {}
    assert 400 <= answer.status_code < 500
    assert "<script>alert" not in answer.text
