"""A token gives read access by its role until it is revoked, and is stored nowhere."""

from pathlib import Path

import pytest

from broker.people import Authentication
from broker.people.copies import ClosedAccounts
from broker.people.errors import BadToken, TokenTaken, TokenUnknown
from broker.people.programs import SEEN_EVERY_MS, TOKEN_RIGHTS
from tests.broker.people.conftest import BY, NOON, Hand


def test_a_token_is_valid_until_it_is_revoked_and_its_name_is_never_reused(auth: Authentication) -> None:
    token = auth.tokens.add("scores", "public", BY)
    found = auth.tokens.find(token)
    assert found is not None
    assert (found.name, found.role, found.made_at) == ("scores", "public", NOON)
    assert len(token) == len("homologue_") + 43  # 256 bits in base64
    auth.tokens.revoke("scores", BY)
    assert (auth.tokens.find(token), [one.revoked for one in auth.tokens.all()]) == (None, [True])
    with pytest.raises(TokenUnknown):
        auth.tokens.revoke("scores", BY)
    with pytest.raises(TokenTaken):
        auth.tokens.add("scores", "public", BY)
    assert [entry.action for entry in auth.audit.checked()] == ["token_added", "token_revoked"]


@pytest.mark.parametrize(("name", "role"), [("", "public"), ("A b", "public"), ("x", "head_arbiter"), ("x", "")])
def test_an_invalid_name_or_role_of_a_token_is_refused(auth: Authentication, name: str, role: str) -> None:
    with pytest.raises(BadToken):
        auth.tokens.add(name, role, BY)
    assert auth.tokens.all() == []


def test_tokens_only_allow_reading() -> None:
    assert {right for rights in TOKEN_RIGHTS.values() for right in rights} == {"see_public", "see_room", "see_metrics"}


def test_the_store_contains_no_token(tmp_path: Path, clock: Hand) -> None:
    opened = Authentication(tmp_path, clock)
    token = opened.tokens.add("scores", "public", BY)
    opened.close()
    assert [path.name for path in tmp_path.iterdir() if token.encode() in path.read_bytes()] == []


def test_the_last_use_of_a_token_is_recorded_once_a_minute(auth: Authentication, clock: Hand) -> None:
    token = auth.tokens.add("scores", "public", BY)
    used = []
    for clock.now in (NOON + 1, NOON + 2, NOON + 1 + SEEN_EVERY_MS):
        auth.tokens.find(token)
        used.append(auth.tokens.all()[0].used_at)
    assert used == [NOON + 1, NOON + 1, NOON + 1 + SEEN_EVERY_MS]


def test_revoking_a_token_counts_as_a_lockout(auth: Authentication) -> None:
    auth.tokens.add("scores", "public", BY)
    closed = ClosedAccounts(auth.store)
    assert not closed.news()
    auth.tokens.revoke("scores", BY)
    assert closed.news()
