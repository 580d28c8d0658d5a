"""A desk whose disk is nearly full: it shows everything, warns in red, and changes nothing until space is freed."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from broker.i18n import languages
from broker.people import Actor, Authentication
from broker.scorer import ViewFeed
from broker.scorer.space import READ_ONLY, DiskLevel
from broker.web.i18n import translators
from broker.web.labels import DISK
from broker.web.server import DeskServer
from tests.broker.people.conftest import PASSWORD, quick_hashes
from tests.broker.web.test_auth import logged_in, token_of

PAGES = ("/", "/people")


@pytest.fixture
def guarded(tmp_path: Path, feed: ViewFeed, monkeypatch: pytest.MonkeyPatch) -> Iterator[DeskServer]:
    quick_hashes(monkeypatch)
    with closing(Authentication(tmp_path)) as auth:
        for role in ("head_arbiter", "display"):
            auth.accounts.add(role, f"A {role}", role, PASSWORD, Actor("test"))
        with DeskServer(feed, port=0, auth=auth) as server:
            yield server


def with_disk(feed: ViewFeed, level: DiskLevel) -> None:
    feed.publish(replace(feed.current, version=feed.current.version + 1, disk=level))


@pytest.mark.parametrize("level", READ_ONLY)
def test_forms_are_refused_until_disk_space_is_freed(
    guarded: DeskServer,
    feed: ViewFeed,
    level: DiskLevel,
) -> None:
    with_disk(feed, level)
    with logged_in(guarded, "head_arbiter") as client:  # logging in still works
        form = {"form": token_of(client), "do": "make", "name": "rose", "full": "Rose", "role": "display"}
        refused = client.post("/people", data=form)
        assert (refused.status_code, "desk_read_only" in refused.text) == (503, True)
        with_disk(feed, "ample")
        assert "desk_read_only" not in client.post("/people", data=form).text


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("level", READ_ONLY)
def test_pages_show_the_warning_in_each_language(
    guarded: DeskServer,
    feed: ViewFeed,
    level: DiskLevel,
    path: str,
) -> None:
    with logged_in(guarded, "head_arbiter") as client:
        for language in languages():
            said = str(translators()[language](DISK[level]))
            with_disk(feed, "low")
            assert said not in client.get(path, params={"lang": language}).text
            with_disk(feed, level)
            page = client.get(path, params={"lang": language}).text
            assert 'class="bar problem"' in page
            assert said in page


def test_a_display_does_not_show_the_disk_warning(guarded: DeskServer, feed: ViewFeed) -> None:
    with_disk(feed, "full")
    with logged_in(guarded, "display") as client:
        page = client.get("/").text
        assert not [one for one in DISK.values() if str(one) in page]
