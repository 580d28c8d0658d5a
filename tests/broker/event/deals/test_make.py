"""New deals are complete, secret, committed to, and made only once; those for riichi have a red five in each suit."""

import json
import os
import secrets
import stat
from itertools import combinations
from pathlib import Path
from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from broker.errors import BadEvent
from broker.event import DealRecord, Plan, open_event, read_deals, read_registry, save_event
from broker.event.deals.commitment import CommitmentFile
from broker.protocol import SEATS
from broker.rules import FULL_SET, KINDS, has_red, new_deal
from broker.rules.deal import RED_SET
from tests.broker.event.deals.asking import ask, codes, contents, done, refused, sets_of
from tests.broker.scorer.small import deals, plan, registry


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def planned(folder: Path) -> list[tuple[str, str, int]]:
    return [(deal.prevalent_wind, deal.dealer, deal.set) for deal in read_deals(folder)]


def test_new_deals_are_numbered_complete_and_all_different(tmp_path: Path) -> None:
    done("new", "--event", "cup", "--deals", 5, tmp_path)
    found = read_deals(tmp_path)
    assert [deal.number for deal in found] == [1, 2, 3, 4, 5]
    trays = [deal.deal().faces for deal in found]
    assert [sorted(face for seat in SEATS for face in faces[seat]) for faces in trays] == [sorted(FULL_SET)] * 5
    assert [one.number for one, other in combinations(found, 2) if one.faces == other.faces] == []


def test_two_events_never_get_the_same_deals(tmp_path: Path) -> None:
    for name in ("one", "two"):
        done("new", "--event", "cup", "--deals", 1, tmp_path / name)
    assert read_deals(tmp_path / "one")[0].faces != read_deals(tmp_path / "two")[0].faces


def test_by_default_every_seat_deals_once_in_every_prevalent_wind(tmp_path: Path) -> None:
    done("new", "--event", "cup", "--deals", 17, tmp_path)
    assert planned(tmp_path) == [
        *((wind, seat, 4 * at + on + 1) for at, wind in enumerate(SEATS) for on, seat in enumerate(SEATS)),
        ("east", "east", 17),
    ]


def test_winds_dealers_and_sets_are_taken_in_turn_from_the_options(tmp_path: Path) -> None:
    told = ("--prevalent-winds", "south, West", "--dealers", "north", "--sets", "7-8,3")
    done("new", "--event", "cup", "--deals", 4, *told, tmp_path)
    assert planned(tmp_path) == [
        ("south", "north", 7),
        ("west", "north", 8),
        ("south", "north", 3),
        ("west", "north", 7),
    ]
    assert sorted(read_registry(tmp_path)) == [3, 7, 8]


@pytest.mark.parametrize(
    "told",
    [
        *(("--dealers", words) for words in ("e", "", "east,,west")),
        ("--prevalent-winds", "up"),
        *(("--sets", numbers) for numbers in ("0", "5-4", "1-100", "1-999999999", "x", "", "1,", "100")),
        *(("--deals", count) for count in ("0", "10000", "x")),
    ],
)
def test_an_invalid_option_value_is_refused(tmp_path: Path, told: tuple[str, str]) -> None:
    result = ask("new", "--event", "cup", "--deals", 1, *told, tmp_path / "new")
    assert (result.exit_code, (tmp_path / "new").exists()) == (2, False)
    assert f"Invalid value for '{told[0]}'" in result.stderr


def test_only_the_owner_can_read_secrets_and_everybody_the_commitment(tmp_path: Path) -> None:
    done("new", "--event", "cup", "--deals", 2, tmp_path)
    assert {path.name: oct(mode(path)) for path in tmp_path.iterdir()} == {
        "deals.json": "0o600",
        "sets.json": "0o600",
        "commitment.json": "0o644",
    }


def test_the_commitment_contains_no_face_and_no_salt(tmp_path: Path) -> None:
    said = done("new", "--event", "cup", "--deals", 2, tmp_path)
    public = (tmp_path / "commitment.json").read_text()
    assert [
        secret for secret in (*KINDS, *(deal.salt for deal in read_deals(tmp_path))) if f'"{secret}"' in public
    ] == []
    assert msgspec.json.decode(public, type=CommitmentFile).root in said


def test_every_deal_has_a_salt_of_its_own(tmp_path: Path) -> None:
    done("new", "--event", "cup", "--deals", 9, tmp_path)
    assert len({deal.salt for deal in read_deals(tmp_path)}) == 9


def test_existing_deals_are_not_replaced(tmp_path: Path) -> None:
    done("new", "--event", "cup", "--deals", 2, tmp_path)
    before = contents(tmp_path)
    assert codes("new", "--event", "cup", "--deals", 3, tmp_path) == ["deals_exist"]
    assert contents(tmp_path) == before


def test_a_commitment_without_its_deals_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "commitment.json").write_text("published")
    assert codes("new", "--event", "cup", "--deals", 3, tmp_path) == ["malformed"]
    (tmp_path / "event.toml").write_text('name = "cup"\ntitle = "A cup"\n')
    assert codes("new", "--deals", 3, tmp_path) == ["deals_exist"]
    assert sorted(contents(tmp_path)) == ["commitment.json", "event.toml"]


def test_existing_sets_are_used(tmp_path: Path) -> None:
    done("set", "new", tmp_path, "--set", "1-3")
    before = contents(tmp_path)
    done("new", "--event", "cup", "--deals", 3, tmp_path)
    assert contents(tmp_path)["sets.json"] == before["sets.json"]


def test_deals_are_not_made_for_missing_sets(tmp_path: Path) -> None:
    done("set", "new", tmp_path, "--set", "2")
    assert codes("new", "--event", "cup", "--deals", 3, tmp_path) == ["set_unknown", "set_unknown"]
    assert sorted(contents(tmp_path)) == ["sets.json"]


def test_more_deals_than_set_numbers_require_the_sets_option(tmp_path: Path) -> None:
    assert codes("new", "--event", "cup", "--deals", 100, tmp_path / "new") == ["set_not_said"]
    assert contents(tmp_path / "new") == {}


def test_deals_belong_to_the_event_of_their_folder(tmp_path: Path) -> None:
    (tmp_path / "event.toml").write_text('name = "cup"\ntitle = "A cup"\n')
    assert codes("new", "--event", "cap", "--deals", 1, tmp_path) == ["other_event"]
    done("new", "--deals", 1, tmp_path)
    assert json.loads((tmp_path / "commitment.json").read_text())["event"] == "cup"


@pytest.mark.parametrize(
    ("event", "code"),
    [((), "event_not_said"), (("--event", "A Cup"), "bad_event_name"), (("--event", ""), "bad_event_name")],
)
def test_a_valid_event_name_is_required(tmp_path: Path, event: tuple[str, ...], code: str) -> None:
    assert codes("new", *event, "--deals", 1, tmp_path / "new") == [code]
    assert contents(tmp_path / "new") == {}


@pytest.mark.parametrize("written", [b"", b"name = 7\ntitle = 'x'", b"\xff", b"name = [[["])
def test_an_event_that_cannot_be_read_is_refused(tmp_path: Path, written: bytes) -> None:
    (tmp_path / "event.toml").write_bytes(written)
    assert codes("new", "--deals", 1, tmp_path) == ["bad_event"]


def test_the_scorer_can_open_new_deals(tmp_path: Path) -> None:
    named: Plan = plan()
    save_event(tmp_path, named, deals(), registry())
    (tmp_path / "deals.json").unlink()
    done("new", "--deals", 4, tmp_path)
    event = open_event(tmp_path)
    assert [event.form(number) == "" for number in range(1, 5)] == [False] * 4


class CutError(BaseException):
    """A simulated power cut."""


@pytest.mark.parametrize("survives", [0, 1, 2])
def test_interrupted_making_of_deals_can_be_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, survives: int
) -> None:
    renamed = Path.replace
    count = iter(range(9))

    def cut(new: Path, path: Path) -> Path:
        if next(count) == survives:
            raise CutError
        return renamed(new, path)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", cut)
        with pytest.raises(CutError):
            ask("new", "--event", "cup", "--deals", 2, tmp_path)
    assert sorted(contents(tmp_path)) == sorted(("sets.json", "deals.json")[:survives])
    if survives < 2:
        done("new", "--event", "cup", "--deals", 2, tmp_path)
    else:
        done("commit", "--event", "cup", tmp_path)
    done("reveal", tmp_path, "--output", tmp_path / "revealed.json")


def test_commit_adds_salts_to_deals_without_them(tmp_path: Path) -> None:
    save_event(tmp_path, plan(), deals(), registry())
    done("commit", tmp_path)
    found = read_deals(tmp_path)
    assert [replaced(deal, None) for deal in found] == list(deals())
    assert None not in {deal.salt for deal in found}
    assert mode(tmp_path / "deals.json") == 0o600


def test_commit_keeps_existing_salts_and_adds_missing_ones(tmp_path: Path) -> None:
    save_event(
        tmp_path, plan(), [replaced(deal, "ab" * 32 if deal.number % 2 else None) for deal in deals()], registry()
    )
    done("commit", tmp_path)
    salts = [deal.salt for deal in read_deals(tmp_path)]
    assert salts[::2] == ["ab" * 32] * 2
    assert len({None, "ab" * 32, *salts[1::2]}) == 4


def replaced(deal: DealRecord, salt: str | None) -> DealRecord:
    return msgspec.structs.replace(deal, salt=salt)


def test_committing_twice_gives_the_same_root(tmp_path: Path) -> None:
    save_event(tmp_path, plan(), deals(), registry())
    said = done("commit", tmp_path)
    before = contents(tmp_path)
    assert done("commit", tmp_path) == said
    assert contents(tmp_path) == before


def test_commit_does_not_replace_the_commitment_of_changed_deals(tmp_path: Path) -> None:
    done("new", "--event", "cup", "--deals", 2, tmp_path)
    text = (tmp_path / "deals.json").read_text()
    (tmp_path / "deals.json").write_text(text.replace('"dealer":"east"', '"dealer":"west"'))
    before = contents(tmp_path)
    assert codes("commit", tmp_path) == ["file_exists"]
    assert contents(tmp_path) == before


def test_an_unwritable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (line,) = refused("new", "--event", "cup", "--deals", 1, tmp_path / "file" / "new")
    assert line == f"file_failed: {tmp_path / 'file' / 'new' / 'event.toml'}: Not a directory"


def test_a_full_disk_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert refused("new", "--event", "cup", "--deals", 1, tmp_path) == ["file_failed: No space left on device"]
    assert contents(tmp_path) == {}


def test_tiles_are_shuffled_only_by_the_operating_systems_generator(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secrets, "SystemRandom", lambda: Random(7))
    done("new", "--event", "cup", "--deals", 1, tmp_path)
    assert read_deals(tmp_path)[0].faces == new_deal(1, "east", "east", Random(7)).faces


def test_a_salt_is_256_bits_of_the_operating_systems_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "token_hex", lambda size: "ab" * size)
    done("new", "--event", "cup", "--deals", 1, tmp_path)
    assert read_deals(tmp_path)[0].salt == "ab" * 32


def made(folder: Path, profile: str) -> Path:
    """Make a small event whose deals and sets have red fives."""
    done("new", folder, "--event", "cup", "--deals", 4, "--red-fives")
    save_event(folder, replace(plan(), profile=profile), read_deals(folder), read_registry(folder))
    return folder


def test_a_riichi_event_accepts_deals_and_sets_with_one_red_five_in_each_suit(tmp_path: Path) -> None:
    event = open_event(made(tmp_path / "cup", "riichi-tenhou"))
    faces = [face for seat in SEATS for face in read_deals(tmp_path / "cup")[0].deal().faces[seat]]
    assert sorted(faces) == sorted(RED_SET)
    assert sorted(event.faces(1).values()) == sorted(RED_SET)


def test_an_mcr_event_refuses_red_fives(tmp_path: Path) -> None:
    with pytest.raises(BadEvent, match="red fives, which oedmc-2020 does not use"):
        open_event(made(tmp_path / "cup", "oedmc-2020"))


def test_an_imported_set_has_all_three_red_fives_or_none(tmp_path: Path) -> None:
    done("set", "new", tmp_path / "cup", "--set", 1, "--red-fives")
    registry = sets_of(tmp_path / "cup")[1]
    lines = [f"{serial},{face}" for serial, face in registry.items()]
    listed, spoilt = tmp_path / "whole.csv", tmp_path / "spoilt.csv"
    listed.write_text("\n".join(["serial,face", *lines]), encoding="utf-8")
    spoilt.write_text("\n".join(["serial,face", *lines]).replace("0m", "5m"), encoding="utf-8")
    done("set", "import", listed, tmp_path / "other", "--set", 6)
    assert has_red(sets_of(tmp_path / "other")[6].values())
    refused = ask("set", "import", spoilt, tmp_path / "third", "--set", 6)
    assert (refused.exit_code, "red fives: one of each of 0m, 0p, 0s, or none" in refused.output) == (1, True)
