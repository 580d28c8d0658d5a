"""Revealed deals match the commitment, and every change is detected."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.event import read_deals
from broker.protocol import SEATS
from broker.rules import KINDS
from broker.store import STORE
from tests.broker.event.deals.asking import ask, codes, contents, done


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with three revealed deals."""
    folder = tmp_path_factory.mktemp("cup")
    done("new", "--event", "cup", "--deals", 3, folder)
    done("reveal", folder, "--output", folder / "revealed.json")
    return folder


def revealed(cup: Path) -> Any:  # noqa: ANN401 - any JSON
    return json.loads((cup / "revealed.json").read_text())


def verdicts(cup: Path, said: object, *options: str) -> tuple[int, list[Any]]:
    """Return exit code and lines of `verify --json` for a revealed file."""
    (cup / "said.json").write_text(json.dumps(said))
    result = ask("verify", cup / "said.json", "--commitment", cup / "commitment.json", "--json", *options)
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()]


def found(cup: Path, said: object) -> dict[int, str | None]:
    """Return the error code of each revealed deal. The exit code must agree."""
    code, lines = verdicts(cup, said)
    assert [line["as_committed"] for line in lines] == ["error" not in line for line in lines]
    assert code == (1 if any("error" in line for line in lines) else 0)
    return {line["deal"]: line.get("error", {}).get("code") for line in lines}


def test_revealed_deals_pass_verification(cup: Path) -> None:
    assert found(cup, revealed(cup)) == {1: None, 2: None, 3: None}


def test_verification_needs_only_the_public_files(cup: Path, tmp_path: Path) -> None:
    for name in ("revealed.json", "commitment.json"):
        (tmp_path / name).write_bytes((cup / name).read_bytes())
    root = json.loads((cup / "commitment.json").read_text())["root"]
    said = done("verify", tmp_path / "revealed.json", "--commitment", tmp_path / "commitment.json", "--root", root)
    assert said.splitlines() == [
        *(f"deal {number}: as committed" for number in (1, 2, 3)),
        f"3 of 3 revealed deals match the commitment, root {root}.",
    ]


def test_swapping_any_two_tiles_is_detected(cup: Path) -> None:
    place = st.tuples(st.sampled_from(SEATS), st.integers(0, 33))

    @given(st.sampled_from([0, 1, 2]), place, place)
    def law(at: int, one: tuple[str, int], other: tuple[str, int]) -> None:
        said = revealed(cup)
        faces = said["deals"][at]["faces"]
        first, second = faces[one[0]][one[1]], faces[other[0]][other[1]]
        faces[one[0]][one[1]], faces[other[0]][other[1]] = second, first
        expected: dict[int, str | None] = dict.fromkeys((1, 2, 3))
        assert found(cup, said) == expected | {at + 1: None if first == second else "deal_differs"}

    law()


def test_changing_any_tile_is_detected(cup: Path) -> None:
    @given(st.sampled_from(SEATS), st.integers(0, 33), st.sampled_from([*KINDS, "0m", "", "1M"]))
    def law(seat: str, place: int, face: str) -> None:
        said = revealed(cup)
        before = said["deals"][1]["faces"][seat][place]
        said["deals"][1]["faces"][seat][place] = face
        assert found(cup, said) == {1: None, 2: None if face == before else "not_a_deal", 3: None}

    law()


CHANGES = [
    *(("prevalent_wind", wind) for wind in ("south", "west", "north")),
    *(("dealer", seat) for seat in ("south", "west", "north")),
    ("salt", "0" * 64),
]
"""Changes to the first deal, in which everything is east."""


@pytest.mark.parametrize(("field", "value"), CHANGES)
def test_changing_wind_dealer_or_salt_is_detected(cup: Path, field: str, value: str) -> None:
    said = revealed(cup)
    assert said["deals"][0][field] != value
    said["deals"][0][field] = value
    assert found(cup, said) == {1: "deal_differs", 2: None, 3: None}


def test_changing_the_event_is_detected(cup: Path) -> None:
    assert found(cup, {**revealed(cup), "event": "cap"}) == dict.fromkeys((1, 2, 3), "other_event")


def test_swapping_the_numbers_of_two_deals_is_detected(cup: Path) -> None:
    said = revealed(cup)
    said["deals"][0]["number"], said["deals"][1]["number"] = 2, 1
    assert found(cup, said) == {1: "deal_differs", 2: "deal_differs", 3: None}


def test_a_deal_outside_the_commitment_is_detected(cup: Path) -> None:
    said = revealed(cup)
    said["deals"][0]["number"] = 4
    assert found(cup, said) == {4: "deal_not_committed", 2: None, 3: None}


def test_a_deal_revealed_twice_is_detected(cup: Path) -> None:
    said = revealed(cup)
    said["deals"].append({**said["deals"][0], "dealer": "west"})
    assert found(cup, said) == {1: "deal_twice", 2: None, 3: None}
    (cup / "said.json").write_text(
        (cup / "revealed.json").read_text().replace('"dealer":', '"dealer":"west","dealer":')
    )
    assert codes("verify", cup / "said.json", "--commitment", cup / "commitment.json") == ["malformed"]


def test_a_missing_seat_is_detected(cup: Path) -> None:
    said = revealed(cup)
    del said["deals"][0]["faces"]["north"]
    assert found(cup, said) == {1: "not_a_deal", 2: None, 3: None}


def test_the_command_names_the_deal_that_differs(cup: Path) -> None:
    said = revealed(cup)
    said["deals"][1]["dealer"] = "west"
    said["deals"].pop()
    (cup / "said.json").write_text(json.dumps(said))
    result = ask("verify", cup / "said.json", "--commitment", cup / "commitment.json")
    root = json.loads((cup / "commitment.json").read_text())["root"]
    assert (result.exit_code, result.stdout.splitlines()) == (
        1,
        [
            "deal 1: as committed",
            "deal 2: NOT AS COMMITTED: deal_differs: deal 2 is not what was committed to",
            f"1 of 2 revealed deals match the commitment, root {root}. Not revealed: 3.",
        ],
    )


@pytest.mark.parametrize("change", ["hash", "number", "event", "root", "missing", "twice"])
def test_changing_the_commitment_is_detected(cup: Path, change: str) -> None:
    said = json.loads((cup / "commitment.json").read_text())
    match change:
        case "hash":
            said["deals"][0]["hash"] = "0" * 64
        case "number":
            said["deals"][0]["deal"] = 4
        case "event" | "root":
            said[change] = {"event": "cap", "root": "0" * 64}[change]
        case "missing":
            said["deals"].pop()
        case _:
            said["deals"].append(said["deals"][0])
    (cup / "changed.json").write_text(json.dumps(said))
    expected = "deal_twice" if change == "twice" else "root_differs"
    assert codes("verify", cup / "revealed.json", "--commitment", cup / "changed.json") == [expected]


def test_the_announced_root_detects_another_commitment(cup: Path, tmp_path: Path) -> None:
    root = json.loads((cup / "commitment.json").read_text())["root"]
    done("new", "--event", "cup", "--deals", 3, tmp_path)
    done("reveal", tmp_path, "--output", tmp_path / "revealed.json")
    other = ("verify", tmp_path / "revealed.json", "--commitment", tmp_path / "commitment.json")
    assert done(*other).count(": as committed") == 3
    assert codes(*other, "--root", root) == ["root_differs"]


@pytest.mark.parametrize("length", [0, 1, 8, 63])
def test_a_partial_root_is_refused(cup: Path, length: int) -> None:
    root = json.loads((cup / "commitment.json").read_text())["root"]
    asked = ("verify", cup / "revealed.json", "--commitment", cup / "commitment.json", "--root")
    assert done(*asked, f" {root.upper()} ").count(": as committed") == 3
    assert [codes(*asked, part) for part in (root[:length], root[64 - length :], f" {root[:length]} ")] == [
        ["root_differs"]
    ] * 3


@pytest.mark.parametrize("written", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, b'{"schema": 2}'])
@pytest.mark.parametrize("which", ["revealed", "commitment"])
def test_garbage_is_refused(cup: Path, tmp_path: Path, which: str, written: bytes) -> None:
    (tmp_path / "rubbish").write_bytes(written)
    paths = {"revealed": cup / "revealed.json", "commitment": cup / "commitment.json"} | {which: tmp_path / "rubbish"}
    assert codes("verify", paths["revealed"], "--commitment", paths["commitment"]) == ["malformed"]


def test_revealing_single_deals_keeps_the_others_secret(cup: Path, tmp_path: Path) -> None:
    done("reveal", cup, "--deal", 3, "--deal", 1, "--output", tmp_path / "some.json")
    text = (tmp_path / "some.json").read_text()
    assert found(cup, json.loads(text)) == {1: None, 3: None}
    assert [deal.number for deal in read_deals(cup) if str(deal.salt) in text] == [1, 3]


def test_the_public_file_may_be_written_again_and_is_readable_by_all(cup: Path, tmp_path: Path) -> None:
    for _ in range(2):
        done("reveal", cup, "--output", tmp_path / "public.json")
    assert {path.name for path in tmp_path.iterdir()} == {"public.json"}
    assert oct((tmp_path / "public.json").stat().st_mode & 0o777) == "0o644"


def test_an_existing_file_is_not_overwritten(cup: Path, tmp_path: Path) -> None:
    (tmp_path / "public.json").write_text("something else")
    assert codes("reveal", cup, "--output", tmp_path / "public.json") == ["file_exists"]
    assert contents(tmp_path) == {"public.json": b"something else"}


def test_all_missing_deals_are_reported(cup: Path, tmp_path: Path) -> None:
    assert codes("reveal", cup, "--deal", 8, "--deal", 9, "--output", tmp_path / "x") == ["deal_unknown"] * 2
    assert contents(tmp_path) == {}


def test_deals_changed_after_the_commitment_are_not_revealed(cup: Path, tmp_path: Path) -> None:
    for name in ("deals.json", "commitment.json"):
        (tmp_path / name).write_bytes((cup / name).read_bytes())
    changed = (tmp_path / "deals.json").read_text().replace('"dealer":"east"', '"dealer":"west"')
    (tmp_path / "deals.json").write_text(changed)
    assert codes("reveal", tmp_path, "--output", tmp_path / "x") == ["deal_differs"]
    (tmp_path / "commitment.json").unlink()
    assert codes("reveal", tmp_path, "--output", tmp_path / "x") == ["file_missing"]


def committed(folder: Path) -> Path:
    done("commit", folder)
    return folder


def test_a_deal_that_is_still_to_be_played_is_revealed_only_on_request(
    over: Path, under_way: Path, tmp_path: Path
) -> None:
    assert codes("reveal", committed(under_way), "--output", tmp_path / "x.json") == ["deal_not_played"] * 4
    assert not (tmp_path / "x.json").exists()
    done("reveal", under_way, "--early", "--output", tmp_path / "x.json")
    done("reveal", committed(over), "--output", tmp_path / "y.json")
    (under_way / STORE).unlink()
    assert codes("reveal", under_way, "--output", tmp_path / "z.json") == ["deal_not_played"]


def test_a_renamed_event_does_not_match_its_commitment(over: Path, tmp_path: Path) -> None:
    plan = (committed(over) / "event.toml").read_text()
    (over / "event.toml").write_text(plan.replace('name = "cup"', 'name = "mug"', 1))
    assert codes("reveal", over, "--output", tmp_path / "x.json") == ["other_event"]
    assert codes("export", over, "--output", tmp_path / "sheets") == ["other_event"]
