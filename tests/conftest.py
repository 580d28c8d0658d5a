"""What every test begins with, and how many examples a property test tries (`HYPOTHESIS_PROFILE=nightly`: many)."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.demo_event import MakeEvent, maker

settings.register_profile(
    "default",
    max_examples=25,
    derandomize=True,
    deadline=None,  # a busy machine is no failure
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("nightly", settings.get_profile("default"), max_examples=1000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

LONGEST = ("tests/e2e/test_demo.py", "tests/e2e/test_faults.py")
"""Tests in which people, networks and restarts take their time."""


def pytest_runtest_setup() -> None:
    """Begin with the usual umask: commands that keep their files to themselves change it for the whole process."""
    os.umask(0o022)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest, so that nobody waits for them at the end: half of them where the second third begins.

    Each of `make test`'s three workers begins with its third, and what it has not come to is taken over by the others.
    """
    long = [item for item in items if item.nodeid.startswith(LONGEST)]
    others = [item for item in items if not item.nodeid.startswith(LONGEST)]
    here = max(0, len(items) // 3 - len(long[::2]))
    items[:] = [*long[::2], *others[:here], *long[1::2], *others[here:]]


@pytest.fixture(scope="session")
def demo_event(tmp_path_factory: pytest.TempPathFactory) -> MakeEvent:
    """Give what puts the demo's event into a folder."""
    return maker(tmp_path_factory.mktemp("demo"))
