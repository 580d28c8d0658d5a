"""Logging in, throttling, sessions, and the link of the first start."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.files import PEOPLE_FILE
from broker.people import Authentication, PeopleStoreBroken
from broker.people.accounts import HOUR_MS, IDLE_MS, LIFETIME_MS, RIGHTS
from broker.people.errors import (
    AccountTaken,
    AccountUnknown,
    AuditBroken,
    BadAccount,
    LastHeadArbiter,
    LinkSpent,
    LoginDelayed,
    LoginRefused,
    WeakPassword,
)
from broker.people.login import (
    ADDRESS_LIMIT,
    BROWSER_LIMIT,
    FIRST_LINK_FILE,
    FIRST_LINK_MS,
    LOGIN_WINDOW_MS,
    MOST_LOGIN_KEYS,
    NAME_LIMIT,
    NETWORK_LIMIT,
    PAIR_LIMIT,
    LoginThrottle,
)
from tests.broker.people.conftest import BY, NOON, PASSWORD, Hand

AGENT, HOME = "Firefox", "10.0.0.1"

IN_ITS_FOLDER = pytest.mark.parametrize("auth", ["sqlite"], indirect=True)
"""For tests of the file only."""


def come_in(auth: Authentication, name: str = "anne", password: str = PASSWORD) -> str:
    return auth.log_in(name, password, agent=AGENT, address=HOME)


def actions(auth: Authentication) -> list[tuple[str, str, str]]:
    return [(entry.who, entry.action, entry.about) for entry in auth.audit.checked()]


def test_a_session_is_found_by_its_token_and_by_nothing_else(anne: Authentication) -> None:
    token = come_in(anne)
    found = anne.known(token, agent=AGENT, address=HOME)
    assert found is not None
    assert found.account.name == "anne"
    assert anne.known(token[:-1], agent=AGENT, address=HOME) is None
    assert anne.known(found.key, agent=AGENT, address=HOME) is None  # the stored hash gives no access


@pytest.mark.parametrize(
    ("name", "password"), [("anne", "something else"), ("bert", PASSWORD), ("", ""), ("ANNE", PASSWORD)]
)
def test_a_refused_login_does_not_reveal_whether_the_name_exists(
    anne: Authentication, name: str, password: str
) -> None:
    with pytest.raises(LoginRefused, match=r"^the name or the password is wrong$"):
        come_in(anne, name, password)


def test_a_password_may_be_typed_on_any_keyboard(anne: Authentication) -> None:
    anne.accounts.add("elo", "Élodie", "display", "é" * 2 + " trois vents 西", BY)
    assert come_in(anne, "elo", "é" * 2 + " trois vents 西")


def test_an_unknown_login_name_is_not_logged(anne: Authentication) -> None:
    with pytest.raises(LoginRefused):
        come_in(anne, "my secret password", "x")
    assert actions(anne)[-1] == ("", "login_refused", "")


def test_after_the_limit_even_the_right_password_has_to_wait(anne: Authentication, clock: Hand) -> None:
    for _ in range(PAIR_LIMIT):
        with pytest.raises(LoginRefused):
            come_in(anne, password="guess")
    with pytest.raises(LoginDelayed) as refusal:
        come_in(anne)
    assert refusal.value.wait_s == LOGIN_WINDOW_MS // 1000
    clock.now += LOGIN_WINDOW_MS
    assert come_in(anne)


@pytest.mark.parametrize("role", ["head_arbiter", "display"])
def test_a_session_ends_when_idle_and_when_too_old(auth: Authentication, clock: Hand, role: str) -> None:
    account = auth.accounts.add("anne", "Anne", role, PASSWORD, BY)
    for step, whole in ((IDLE_MS[account.role], False), (HOUR_MS, True)):
        token, began = come_in(auth), clock.now
        while clock.now - began + step <= (LIFETIME_MS[account.role] if whole else step):
            clock.now += step
            assert auth.known(token, agent=AGENT, address=HOME) is not None
        clock.now += step if whole else IDLE_MS[account.role] + 1
        assert auth.known(token, agent=AGENT, address=HOME) is None
    assert ("anne", "session_ended", "") in actions(auth)


def test_a_session_survives_a_restart(anne: Authentication, tmp_path: Path, clock: Hand) -> None:
    token = come_in(anne)
    anne.close()
    again = Authentication(tmp_path, clock)
    assert again.known(token, agent=AGENT, address=HOME) is not None
    again.close()


def test_a_token_used_from_another_browser_ends_the_session(anne: Authentication) -> None:
    token = come_in(anne)
    assert anne.known(token, agent="curl", address="10.0.0.66") is None
    assert anne.known(token, agent=AGENT, address=HOME) is None
    assert [(e.who, e.action, e.address) for e in anne.audit.checked()][-1] == ("anne", "session_moved", "10.0.0.66")


def test_logging_out_ends_only_that_session(anne: Authentication) -> None:
    one, other = come_in(anne), come_in(anne)
    session = anne.known(one, agent=AGENT, address=HOME)
    assert session is not None
    anne.log_out(session, HOME)
    assert (anne.known(one, agent=AGENT, address=HOME), anne.goes_on(session)) == (None, False)
    assert anne.known(other, agent=AGENT, address=HOME) is not None


@pytest.mark.parametrize("what", ["disable", "password"])
def test_a_disabled_account_and_a_new_password_end_all_sessions(anne: Authentication, what: str) -> None:
    anne.accounts.add("bert", "Bert", "table_arbiter", PASSWORD, BY)
    token = come_in(anne, "bert")
    if what == "disable":
        anne.accounts.disable("bert", BY)
    else:
        anne.accounts.set_password("bert", "another four winds", BY)
    assert anne.known(token, agent=AGENT, address=HOME) is None
    with pytest.raises(LoginRefused):
        come_in(anne, "bert")


def test_the_last_head_arbiter_cannot_be_disabled(anne: Authentication) -> None:
    with pytest.raises(LastHeadArbiter):
        anne.accounts.disable("anne", BY)
    anne.accounts.add("bert", "Bert", "head_arbiter", PASSWORD, BY)
    anne.accounts.disable("anne", BY)
    with pytest.raises(LastHeadArbiter):
        anne.accounts.disable("bert", BY)


def test_a_login_name_is_never_reused(anne: Authentication) -> None:
    anne.accounts.add("bert", "Bert", "display", PASSWORD, BY)
    anne.accounts.disable("bert", BY)
    with pytest.raises(AccountTaken):
        anne.accounts.add("bert", "Another Bert", "display", PASSWORD, BY)


@pytest.mark.parametrize(
    ("name", "full", "role"),
    [
        *((name, "A", "display") for name in ("", "A", "-a", "a" * 33, "a\n", "ａ")),
        *(("a", full, "display") for full in ("", "A" * 61, "A\0")),
        ("a", "A", "king"),
    ],
)
def test_an_invalid_account_is_refused(auth: Authentication, name: str, full: str, role: str) -> None:
    with pytest.raises(BadAccount):
        auth.accounts.add(name, full, role, PASSWORD, BY)
    assert auth.accounts.all() == []


@pytest.mark.parametrize("password", ["", "short", "aaaaaaaaaaaaaaaa", "four-winds-anne", "x" * 201])
def test_a_weak_password_is_refused(auth: Authentication, password: str) -> None:
    with pytest.raises(WeakPassword):
        auth.accounts.add("four-winds-anne", "Anne", "display", password, BY)


def test_unknown_accounts_cannot_be_disabled_or_enabled(anne: Authentication) -> None:
    for act in (anne.accounts.disable, anne.accounts.enable):
        with pytest.raises(AccountUnknown):
            act("bert", BY)


def test_the_first_link_stays_valid_while_another_program_opens_the_accounts(
    auth: Authentication, tmp_path: Path
) -> None:
    auth.first_link("http://127.0.0.1:1/")
    Authentication(tmp_path).close()
    assert (tmp_path / FIRST_LINK_FILE).exists() is True
    auth.close()
    assert (tmp_path / FIRST_LINK_FILE).exists() is False


def test_a_first_link_left_by_a_power_cut_is_removed_by_the_next_desk(auth: Authentication, tmp_path: Path) -> None:
    auth.first_link("http://127.0.0.1:1/")
    auth.store.close()
    with closing(Authentication(tmp_path)) as desk:
        desk.accounts.add("anne", "Anne Lefèvre", "head_arbiter", PASSWORD, BY)
        assert desk.first_link("http://127.0.0.1:1/") is None
    assert (tmp_path / FIRST_LINK_FILE).exists() is False


def test_the_first_link_works_once(auth: Authentication, tmp_path: Path) -> None:
    link = auth.first_link("http://127.0.0.1:1/")
    assert link is not None
    assert (tmp_path / FIRST_LINK_FILE).read_text() == f"{link}\n"
    assert (tmp_path / FIRST_LINK_FILE).stat().st_mode & 0o777 == 0o600
    token = link.partition("token=")[2]
    auth.welcome(token, "anne", "Anne", PASSWORD, HOME)
    assert (tmp_path / FIRST_LINK_FILE).exists() is False
    with pytest.raises(LinkSpent):
        auth.welcome(token, "bert", "Bert", PASSWORD, HOME)
    assert [(one.name, one.role) for one in auth.accounts.all()] == [("anne", "head_arbiter")]


def test_an_expired_or_wrong_first_link_is_refused(auth: Authentication, clock: Hand) -> None:
    token = str(auth.first_link("http://127.0.0.1:1/")).partition("token=")[2]
    with pytest.raises(LinkSpent):
        auth.check_link(token + "x")
    clock.now += FIRST_LINK_MS
    auth.check_link(token)
    clock.now += 1
    with pytest.raises(LinkSpent):
        auth.check_link(token)


def test_there_is_no_first_link_if_there_is_an_account(anne: Authentication) -> None:
    assert anne.first_link("http://127.0.0.1:1/") is None


def test_the_log_records_who_did_what(anne: Authentication) -> None:
    come_in(anne)
    assert actions(anne) == [("test", "account_added", "anne"), ("anne", "logged_in", "")]


def test_the_log_cannot_be_changed_or_shortened(anne: Authentication) -> None:
    for statement in ("UPDATE audit SET who = 'x'", "DELETE FROM audit"):
        with pytest.raises(PeopleStoreBroken, match="append-only"), anne.store.commit() as sql:
            sql.exec_driver_sql(statement)
    assert len(actions(anne)) == 1


@IN_ITS_FOLDER
@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE audit SET who = 'bert' WHERE number = 1",
        "DELETE FROM audit WHERE number = 1",
        "INSERT INTO audit VALUES (3, 0, 'x', '', 'x', '', '', 'x')",
    ],
)
def test_changes_to_the_log_file_are_detected(anne: Authentication, tmp_path: Path, forgery: str) -> None:
    come_in(anne)
    with sqlite3.connect(tmp_path / PEOPLE_FILE) as forger:
        forger.execute("DROP TRIGGER audit_append_only_update")
        forger.execute("DROP TRIGGER audit_append_only_delete")
        forger.execute(forgery)
    forger.close()
    with pytest.raises(AuditBroken):
        list(anne.audit.checked())


@IN_ITS_FOLDER
def test_neither_files_nor_log_contain_a_password_or_a_token(anne: Authentication, tmp_path: Path) -> None:
    token = come_in(anne)
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert (PASSWORD.encode() in files, token.encode() in files) == (False, False)
    assert PASSWORD not in json.dumps(list(anne.audit.entries()))


@IN_ITS_FOLDER
def test_a_file_of_another_version_is_refused(anne: Authentication, tmp_path: Path) -> None:
    with anne.store.commit() as sql:
        sql.exec_driver_sql("UPDATE about SET value = '2' WHERE key = 'version'")
    with pytest.raises(PeopleStoreBroken, match="version 2"):
        Authentication(tmp_path)


def test_displays_and_organisers_see_no_embargoed_deals_and_change_nothing_in_the_room() -> None:
    assert "admit" in RIGHTS["head_arbiter"]
    assert {role: sorted(rights) for role, rights in RIGHTS.items() if role != "head_arbiter"} == {
        "table_arbiter": ["check_in", "give_orders", "print_sheets", "rule", "see_public", "see_room"],
        "organiser": ["check_in", "print_sheets", "see_public", "set_up"],
        "display": ["see_public"],
    }


def test_the_log_uses_the_given_clock(anne: Authentication) -> None:
    assert [entry.at for entry in anne.audit.checked()] == [NOON]


@pytest.mark.parametrize(
    ("limit", "name", "address"),
    [(PAIR_LIMIT, "anne", "10.0.0.1"), (ADDRESS_LIMIT, "n{}", "10.0.0.1")],
)
def test_attempts_up_to_the_limit_are_allowed_and_the_next_waits_for_the_window(
    limit: int, name: str, address: str
) -> None:
    throttle = LoginThrottle()
    heard = []
    for at in range(limit + 1):
        heard.append(throttle.wait_ms(name.format(at), address.format(at), 1000) == 0)
        throttle.count_attempt(name.format(at), address.format(at), 1000)
    assert heard == [True] * limit + [False]
    assert throttle.wait_ms(name.format(0), address.format(0), 1000 + LOGIN_WINDOW_MS - 1) in {0, 1}
    assert throttle.wait_ms(name.format(limit), address.format(limit), 1000 + LOGIN_WINDOW_MS) == 0


def test_a_name_at_its_limit_allows_each_network_only_its_first_attempts() -> None:
    throttle, heard = LoginThrottle(), 0
    for at in range(10 * NAME_LIMIT):
        address = f"10.0.0.{at % 25}"
        if not throttle.wait_ms("anne", address, 0):
            throttle.count_attempt("anne", address, 0)
            heard += 1
    assert heard == 25 * NETWORK_LIMIT


@given(st.lists(st.tuples(st.sampled_from(["anne", "bert"]), st.integers(2, 60)), max_size=200))
def test_attempts_from_elsewhere_never_lock_out_the_owner(tries: list[tuple[str, int]]) -> None:
    throttle = LoginThrottle()
    for name, host in tries:
        throttle.count_attempt(name, f"10.0.0.{host}", 0)
        throttle.count_attempt(name, f"fd00::{host:x}", 0)
    for _ in range(NETWORK_LIMIT):
        assert throttle.wait_ms("anne", "10.0.0.1", 0) == 0
        throttle.count_attempt("anne", "10.0.0.1", 0)


def test_an_ipv6_network_has_its_first_attempts_once_for_all_addresses() -> None:
    throttle = LoginThrottle()
    for at in range(NAME_LIMIT):
        throttle.count_attempt("anne", f"10.0.{at}.1", 0)
    heard = 0
    for at in range(100):
        if not throttle.wait_ms("anne", f"fd00::{at:x}", 0):
            throttle.count_attempt("anne", f"fd00::{at:x}", 0)
            heard += 1
    assert heard == NETWORK_LIMIT


def test_a_known_browser_is_allowed_from_an_address_at_its_limit(anne: Authentication) -> None:
    marks = anne.with_mark(anne.accounts.get("anne"), "")
    for _ in range(PAIR_LIMIT):
        with pytest.raises(LoginRefused):
            come_in(anne, password="wrong")
    with pytest.raises(LoginDelayed):
        come_in(anne)
    assert anne.log_in("anne", PASSWORD, agent=AGENT, address=HOME, browser=marks)


def test_a_known_browser_has_a_limit_of_its_own(anne: Authentication) -> None:
    marks = anne.with_mark(anne.accounts.get("anne"), "")
    for at in range(BROWSER_LIMIT):
        with pytest.raises(LoginRefused):
            anne.log_in("anne", "wrong", agent=AGENT, address=f"10.0.1.{at}", browser=marks)
    with pytest.raises(LoginDelayed):
        anne.log_in("anne", PASSWORD, agent=AGENT, address="10.0.2.1", browser=marks)


def test_a_browser_mark_is_valid_only_for_its_account_and_until_a_new_password(anne: Authentication) -> None:
    anne.accounts.add("tao", "Tao", "table_arbiter", PASSWORD, BY)
    marks = anne.with_mark(anne.accounts.get("anne"), "")
    both = anne.with_mark(anne.accounts.get("tao"), marks)
    assert anne._browser_nonce("tao", marks) == ""
    assert anne._browser_nonce("tao", both) != ""
    assert anne._browser_nonce("anne", both) != ""
    assert anne.with_mark(anne.accounts.get("anne"), both) == both
    anne.accounts.set_password("anne", PASSWORD + " again", BY)
    assert (anne._browser_nonce("anne", both), bool(anne._browser_nonce("tao", both))) == ("", True)


def test_an_invalid_browser_mark_is_ignored(anne: Authentication) -> None:
    seal = "-" + "0" * 64
    for text in ("", ".", "." * 500, "a" * 32 + seal, "é" * 32 + seal, "a" * 32 + "-" + "é" * 64, "a-b.c-d"):
        assert anne._browser_nonce("anne", text) == ""
        assert anne._browser_nonce("nobody", text) == ""


def test_an_attacker_at_another_address_does_not_lock_out_the_owner() -> None:
    throttle = LoginThrottle()
    for _ in range(PAIR_LIMIT):
        throttle.count_attempt("anne", "10.0.0.66", 0)
    assert (throttle.wait_ms("anne", "10.0.0.66", 0), throttle.wait_ms("anne", "10.0.0.1", 0)) == (LOGIN_WINDOW_MS, 0)


def test_a_successful_login_clears_earlier_failures() -> None:
    throttle = LoginThrottle()
    for _ in range(3 * PAIR_LIMIT):
        throttle.count_attempt("anne", "10.0.0.1", 0)
        throttle.succeeded("anne", "10.0.0.1")
    assert throttle.wait_ms("anne", "10.0.0.1", 0) == 0


def test_setting_the_clock_back_locks_nobody_out() -> None:
    throttle = LoginThrottle()
    for _ in range(PAIR_LIMIT):
        throttle.count_attempt("anne", "10.0.0.1", 10 * LOGIN_WINDOW_MS)
    assert throttle.wait_ms("anne", "10.0.0.1", 0) == 0


def test_the_number_of_counted_names_is_limited() -> None:
    throttle = LoginThrottle()
    for at in range(MOST_LOGIN_KEYS + 100):
        throttle.count_attempt(f"n{at}", f"a{at}", 0)
    assert len(throttle._failures) == MOST_LOGIN_KEYS


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.integers(0, LOGIN_WINDOW_MS)), max_size=60))
def test_no_window_has_more_allowed_attempts_than_the_limit(
    tries: list[tuple[str, str, int]],
) -> None:
    throttle, now = LoginThrottle(), 0
    heard: dict[tuple[str, str], list[int]] = {}
    for name, address, later in tries:
        now += later // 20
        if not throttle.wait_ms(name, address, now):
            throttle.count_attempt(name, address, now)
            heard.setdefault((name, address), []).append(now)
    for times in heard.values():
        assert all(b - a >= LOGIN_WINDOW_MS for a, b in zip(times, times[PAIR_LIMIT:], strict=False))
