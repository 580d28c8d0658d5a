"""The setup of every test, and how many examples a property test tries (`HYPOTHESIS_PROFILE=nightly`: many)."""

import fcntl
import gc
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from inspect import isfunction
from pathlib import Path
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from playwright.sync_api import Browser, expect

from tests.cases import cases_of, one_after_the_other
from tests.chromium import chromium
from tests.demo_event import MakeEvent, maker
from tests.memory import use_memory
from tests.patience import PATIENCE_S

settings.register_profile(
    "default",
    max_examples=10,
    derandomize=True,
    deadline=None,  # slow examples on a busy machine are no failures
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", settings.get_profile("default"), max_examples=1000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Hypothesis also tries constants from the source of every module imported so far, so each worker would try other
# examples, after two seconds of parsing.
providers._get_local_constants = Constants

for wait in ("connect", "read", "write", "pool"):
    setattr(DEFAULT_TIMEOUT_CONFIG, wait, PATIENCE_S)  # instead of five seconds

# Each client loads the system's certificate authorities, which takes 30 ms.
pytest.MonkeyPatch().setattr("httpx._transports.default.create_ssl_context", cache(httpx.create_ssl_context))


def compared_once(verify: Callable[[PasswordHasher, str, str], bool]) -> Callable[[PasswordHasher, str, str], bool]:
    """Return a comparison of a password or PIN with a hash that caches its results."""
    known: dict[tuple[str, str], type[VerificationError] | None] = {}

    def compare(hasher: PasswordHasher, hashed: str, secret: str) -> bool:
        if (hashed, secret) not in known:
            try:
                verify(hasher, hashed, secret)
                known[hashed, secret] = None
            except VerificationError as error:
                known[hashed, secret] = type(error)
        if different := known[hashed, secret]:
            raise different
        return True

    return compare


# Argon2 takes a fifth of a second each time, and hundreds of tests use the same PINs.
pytest.MonkeyPatch().setattr(PasswordHasher, "verify", compared_once(PasswordHasher.verify))

# All cores are busy with workers: more OpenCV threads gain nothing, and take up to 7 % more processor time. OpenCV
# reads this when it is loaded.
os.environ.setdefault("OPENCV_FOR_THREADS_NUM", "1")

use_memory()

SLOW_TIMEOUT_S = 1500

SHOWN_S = 0.005  # seconds below which `--durations` lists nothing

# Imports and collection create objects that live as long as the process. Searching them for garbage again and again
# took a quarter of a worker's time, so collection is off meanwhile, and these objects are then frozen.
gc.disable()


@contextmanager
def first_alone() -> Iterator[None]:
    """Let one worker collect before the others, so that these only load what it has compiled in a fresh clone."""
    with Path(__file__).open(encoding="utf-8") as turn:
        try:
            fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(turn, fcntl.LOCK_SH)
        yield


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Turn garbage collection on again once all tests are collected."""
    with first_alone() if "PYTEST_XDIST_WORKER" in os.environ else nullcontext():
        collected = yield
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
    return collected


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class, name: str, obj: object
) -> pytest.Function | None:
    """Make one item of all cases of a test, unless a single one is requested: `test_name[case]`."""
    asked = any("[" in argument for argument in collector.config.args)
    if isfunction(obj) and name.startswith("test") and not asked and (cases := cases_of(obj)):
        return pytest.Function.from_parent(collector, name=name, callobj=one_after_the_other(obj, cases))
    return None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Send only those reports of a worker that are shown: the four others per test take a millisecond."""
    for sender in session.config.pluginmanager.get_plugins():
        if "PYTEST_XDIST_WORKER" in os.environ and hasattr(sender, "sendevent"):
            sender.sendevent = partial(send_what_is_shown, sender.sendevent)


def send_what_is_shown(send: Callable[..., None], name: str, **values: Any) -> None:  # noqa: ANN401 - as xdist sends
    """Omit the start and end of tests, and setup and teardown that passed at once."""
    told = values.get("data", {})
    quick = told.get("when") in {"setup", "teardown"} and told["outcome"] == "passed" and told["duration"] < SHOWN_S
    if name not in {"logstart", "logfinish"} and not quick:
        send(name, **values)


def pytest_runtest_setup() -> None:
    """Restore the usual umask: commands with private files change it for the whole process."""
    os.umask(0o022)
    os.environ["PYTHONFAULTHANDLER"] = "1"  # print a traceback if a test's process crashes, or gets SIGABRT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Allow slow tests more time, as they involve people, networks and restarts on a busy machine."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT_S))


@pytest.fixture(scope="session")
def demo_event(tmp_path_factory: pytest.TempPathFactory) -> MakeEvent:
    """Return a function that writes the demo's event into a folder."""
    return maker(tmp_path_factory.mktemp("demo"))


# One browser per worker. Its driver runs an event loop in the main thread, where no other may run: see
# `tests/event_loop.py`.
@pytest.fixture(scope="session")
def running_browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_S * 1000)
    with chromium() as running:
        yield running


@pytest.fixture
def browser(running_browser: Browser) -> Iterator[Browser]:
    """Close the pages that a test has opened; otherwise they poll their desk until the worker ends."""
    yield running_browser
    for context in running_browser.contexts:
        context.close()
