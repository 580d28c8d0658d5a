"""The simulated disk: flushed data survives, other data may not; a process that forgets a flush is found."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.power.disk import Disk, Lie, Tree, fates
from tests.power.recorder import DISK, Flushed, Made, Operation, Promised, Renamed, Resized, Written, record

OLD, NEW = b"old" * 600, b"new" * 600


def states(root: str, operations: list[Operation], lie: Lie = "none") -> list[Tree]:
    """Return many states after all operations."""
    disk = Disk(root)
    for operation in operations:
        disk.apply(operation)
    return [disk.kept(fate, lie) for fate in fates(random.Random(1), disk.count, 200)]


def flushed(path: str, after: list[Operation]) -> list[Operation]:
    return [*after, Flushed(path, len(after))]


def test_flushed_data_survives_in_every_state() -> None:
    written = flushed("/d/a", [Made("/d/a"), Written("/d/a", 0, OLD)])
    assert states("/d", flushed("/d", written)) == [{"a": OLD}] * 200


def test_content_whose_name_was_not_flushed_may_be_lost() -> None:
    assert {*map(len, states("/d", flushed("/d/a", [Made("/d/a"), Written("/d/a", 0, OLD)])))} == {0, 1}


def test_sectors_of_an_unflushed_write_survive_in_any_order_and_length_without_content() -> None:
    base = flushed("/d", flushed("/d/a", [Made("/d/a"), Written("/d/a", 0, OLD)]))
    seen = {bytes(tree["a"] or b"") for tree in states("/d", [*base, Written("/d/a", 0, NEW), Resized("/d/a", 700)])}
    assert {OLD, NEW, OLD[:700], NEW[:700]} <= seen
    assert any(b"old" in one and b"new" in one for one in seen)
    assert OLD + bytes(10) in {tree["a"] for tree in states("/d", [*base, Written("/d/a", len(OLD), b"x" * 10)])}


def test_a_replaced_file_is_the_old_one_or_the_new_one() -> None:
    base = flushed("/d", flushed("/d/a", [Made("/d/a"), Written("/d/a", 0, OLD)]))
    new = flushed("/d/n", [*base, Made("/d/n"), Written("/d/n", 0, NEW)])
    assert {tree["a"] for tree in states("/d", [*new, Renamed("/d/n", "/d/a")])} == {OLD, NEW}


def test_a_flush_covers_operations_that_ended_before_it_began() -> None:
    base = flushed("/d", [Made("/d/a"), Written("/d/a", 0, OLD)])
    assert {tree["a"] for tree in states("/d", [*base, Flushed("/d/a", 1)])} > {b"", OLD}


def test_a_disk_that_lies_skips_its_last_flush_of_one_file_or_of_all() -> None:
    base = flushed("/d", flushed("/d/a", [Made("/d/a"), Written("/d/a", 0, OLD)]))
    again = flushed("/d/a", [*base, Written("/d/a", 0, NEW)])
    assert {} in states("/d", base, "all")
    assert {"a": OLD} in states("/d", again, "one")
    assert {"a": OLD} not in states("/d", again)


def written_by(how: str, tmp_path: Path) -> Iterator[Tree]:
    """Return the states after each promise of a real process that writes in one of the ways."""
    operations = record(["tests.power.careless", how], tmp_path)
    disk = Disk(f"{tmp_path}/{DISK}")
    for operation in operations:
        disk.apply(operation)
        if isinstance(operation, Promised):
            yield from (disk.kept(fate) for fate in fates(random.Random(2), disk.count, 50))


@pytest.mark.parametrize(
    ("how", "lost"), [("in one step", False), ("without a flush", True), ("in a new folder", True), ("copied", True)]
)
def test_a_premature_promise_is_found(*, how: str, lost: bool, tmp_path: Path) -> None:
    found = [*written_by(how, tmp_path)]
    assert len(found) == 50
    assert any(b"x" * 5000 not in tree.values() for tree in found) is lost
    assert any(b"x" * 5000 in tree.values() for tree in found)


def test_unknown_system_calls_are_reported(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match=r"^link"):
        record(["tests.power.careless", "linked"], tmp_path)


def test_a_failing_process_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"^tests\.power\.careless nothing: 1\n"):
        record(["tests.power.careless", "nothing"], tmp_path)
