"""The scorer's disk fills up: arbiters are alerted, the desk becomes read-only, results use the reserve.

Levels are tested with simulated disks. A scorer is tested on a real one, where such a disk can be mounted.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.scorer.space import LARGEST_RESERVE, RESERVE, DiskLevel, DiskSpace
from tests.broker.scorer.hall import Hall, make_hall, open_journal
from tests.broker.scorer.small import beat, fact, result, whole_log
from tests.small_disk import MEGABYTE, Ballast, small_disk


class Disk:
    """A disk of which others use more or less. The reserve uses space, too."""

    def __init__(self, folder: Path, size: int = 80 * MEGABYTE) -> None:
        self._folder, self.size, self.taken = folder, size, 0

    def __call__(self, folder: Path) -> tuple[int, int]:
        assert folder == self._folder
        reserve = folder / RESERVE
        return self.size - self.taken - (reserve.stat().st_size if reserve.exists() else 0), self.size


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


def test_the_levels_change_in_order_down_and_back(tmp_path: Path, disk: Disk) -> None:
    """With a reserve of 10 MB. Each line: MB used by others, and the level."""
    space = DiskSpace(tmp_path, disk)
    said = []
    for taken in (0, 45, 55, 62, 66, 72, 77.4, 77.6, 72, 60, 51, 49, 30):
        disk.taken = int(taken * MEGABYTE)
        said.append((taken, space.update(), (tmp_path / RESERVE).exists()))
    assert said == [
        (0, "ample", True),
        (45, "ample", True),
        (55, "low", True),
        (62, "read_only", True),
        (66, "read_only", False),  # less than half of it was free beside it
        (72, "read_only", False),
        (77.4, "read_only", False),
        (77.6, "full", False),
        (72, "read_only", False),
        (60, "read_only", False),
        (51, "read_only", False),
        (49, "ample", True),
        (30, "ample", True),
    ]


def test_the_reserve_suits_the_size_of_the_disk_and_is_private(tmp_path: Path) -> None:
    assert DiskSpace(tmp_path, Disk(tmp_path, 10**12)).size == LARGEST_RESERVE
    space = DiskSpace(tmp_path, Disk(tmp_path, 8 * MEGABYTE))
    space.update()
    reserve = (tmp_path / RESERVE).stat()
    assert (space.size, reserve.st_size, reserve.st_mode & 0o777) == (MEGABYTE, MEGABYTE, 0o600)
    assert reserve.st_blocks * 512 >= MEGABYTE  # its space is allocated already


@given(st.lists(st.integers(0, 80), max_size=30))
def test_the_desk_is_read_only_before_the_disk_is_full_and_no_disk_with_a_reserve_is(
    tmp_path_factory: pytest.TempPathFactory, steps: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("disk")
    disk = Disk(folder)
    space = DiskSpace(folder, disk)
    for taken in steps:
        disk.taken = taken * MEGABYTE
        now = space.update()
        free = disk(folder)[0]
        assert (now == "full") == (not (folder / RESERVE).exists() and free < space.size // 4)
        if now in {"ample", "low"}:
            assert free >= space.size
            assert (folder / RESERVE).exists()


def test_a_scorer_without_disk_space_watch_always_has_space(hall: Hall) -> None:
    hall.scorer.step(timeout=0)
    assert (hall.scorer.feed.current.disk, hall.alerts()) == ("ample", [])


def level(hall: Hall) -> DiskLevel:
    """Return the disk level that the desk shows."""
    return hall.scorer.feed.current.disk


@pytest.fixture
def own_disk(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "disk", 16) as folder:
        yield folder


def test_on_a_real_disk_results_use_the_reserve_then_wait_and_then_continue(own_disk: Path) -> None:
    ballast = Ballast(own_disk)
    with open_journal(own_disk) as journal:
        space = DiskSpace(own_disk)
        hall = make_hall(own_disk, journal, space=space)
        hall.connect(up=True)
        assert level(hall) == "ample"
        ballast.fill(leave=space.size - 100_000)
        hall.hear(*whole_log(1))
        assert level(hall) == "read_only"
        ballast.fill()
        assert not space._room(own_disk)[0]
        hall.hear(*whole_log(2))  # stored with the space of the reserve
        assert not (own_disk / RESERVE).exists()
        assert [hall.ear.told(f"receipt/{table}")["upto"] for table in (1, 2)] == [len(whole_log(1)), len(whole_log(2))]
        ballast.fill(leave=space.size // 4 - 100_000)
        hall.ear.forget()
        hall.hear(*whole_log(4), beat(1))
        assert level(hall) == "full"
        assert (journal.height, hall.ear.story.count("acknowledged")) == (len(whole_log(1)) + len(whole_log(2)), 1)
        hall.hear(fact(3, 1, result(3)))
        ballast.remove()
        hall.scorer.step(timeout=0)
        assert level(hall) == "ample"
        assert (own_disk / RESERVE).exists()
        assert hall.ear.told("receipt/4")["upto"] == len(whole_log(4))
        assert hall.ear.told("receipt/3")["upto"] == 1
        assert [code for code, _ in hall.alerts() if code.startswith("scorer_disk")] == [
            "scorer_disk_full",
            "scorer_disk_ample",
        ]


def test_a_read_only_disk_is_full_until_it_is_writable(own_disk: Path) -> None:
    space = DiskSpace(own_disk)
    levels = [space.update()]
    for way in ("ro", "rw"):
        subprocess.run(["mount", "-o", f"remount,{way}", own_disk], check=True)
        levels.append(space.update())
    assert levels == ["ample", "full", "ample"]


def test_messages_that_waited_at_a_disconnection_are_resent_and_accepted_once(own_disk: Path) -> None:
    ballast = Ballast(own_disk)
    with open_journal(own_disk) as journal:
        hall = make_hall(own_disk, journal, space=DiskSpace(own_disk))
        ballast.fill()
        hall.scorer.step(timeout=0)
        ballast.fill()
        hall.hear(*whole_log(1))
        assert journal.height == 0
        hall.connect(up=False)
        ballast.remove()
        hall.connect(up=True)
        assert journal.height == 0
        hall.hear(*whole_log(1))
        assert journal.height == len(whole_log(1))
