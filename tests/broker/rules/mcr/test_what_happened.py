"""The rules' findings on a scene at a table, including draws out of turn."""

from collections import Counter
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.i18n import Translator, languages
from broker.protocol import SEATS, Seat
from broker.rules import RuleError
from broker.rules.deal import NEXT_SEAT
from broker.rules.mcr import ActionKind, Phase, PlayState, Scene, what_happened
from tests.broker.rules.mcr.playing import at_random
from tests.broker.rules.variants import seats

EVEN = seats(10, 10, 10, 10)


def codes(
    walls: Mapping[Seat, int],
    turn: Seat,
    phase: Phase = "claim",
    claims: Mapping[Seat, ActionKind] | None = None,
    *,
    nearest_only: bool = False,
    claimed_sets: Mapping[tuple[Seat, Seat], int] | None = None,
    kongs: Mapping[Seat, int] | None = None,
) -> list[str]:
    """Return the codes of all findings."""
    scene = Scene(
        walls=walls,
        turn=turn,
        phase=phase,
        claims=claims or {},
        dealer="east",
        claimed_sets=claimed_sets,
        kongs=kongs or {},
    )
    return [found.code for found in what_happened(scene, nearest_only=nearest_only)]


def test_without_a_claim_the_next_player_in_turn_order_draws() -> None:
    assert codes(seats(9, 10, 10, 10), "east") == ["ltw_not_reached", "draws_next", "draws_last", "walls_fit"]


def test_a_discard_in_ltw_can_be_claimed_only_for_hu_or_the_play_is_a_draw() -> None:
    walls = seats(1, 0, 1, 1)
    assert codes(walls, "east", claims={"south": "chow", "west": "pung"})[:4] == [
        "ltw_reached",
        "only_hu_in_ltw",
        "only_hu_in_ltw",
        "exhausted_draw",
    ]
    assert codes(walls, "east", claims={"west": "hu_on_discard", "south": "pung"})[2:5] == [
        "hu_on_discard_allowed",
        "tile_wins",
        "adds_fan",
    ]


@pytest.mark.parametrize(
    ("claims", "code"),
    [
        ({"west": "chow"}, "chow_not_next"),
        ({"west": "melded_kong"}, "kong_without_wall"),
        ({"east": "pung"}, "own_discard"),
        ({"east": "hu_on_discard"}, "discarder_wins"),
    ],
)
def test_a_claim_that_is_not_allowed_is_explained(claims: dict[Seat, ActionKind], code: str) -> None:
    assert codes(seats(1, 1, 0, 1), "east", claims=claims)[1:3] == [code, "draws_next"]


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"south": "chow"}, ["chow_allowed", "tile_goes_to", "discards_next"]),
        ({"south": "chow", "north": "pung"}, ["chow_allowed", "pung_allowed", "tile_goes_to", "discards_next"]),
        ({"north": "melded_kong"}, ["melded_kong_allowed", "tile_goes_to", "draws_replacement"]),
        ({"west": "hu_on_discard", "south": "pung"}, ["pung_allowed", "hu_on_discard_allowed", "tile_wins"]),
        ({"west": "pung", "south": "pung"}, ["pung_allowed", "pung_allowed", "two_pungs", "tile_goes_to"]),
    ],
)
def test_hu_precedes_pung_and_kong_which_precede_chow(claims: dict[Seat, ActionKind], expected: list[str]) -> None:
    assert codes(EVEN, "east", claims=claims)[1 : 1 + len(expected)] == expected


@pytest.mark.parametrize(("nearest_only", "code"), [(False, "all_win"), (True, "nearest_wins")])
def test_the_profile_decides_whether_all_or_only_the_nearest_hu_wins(*, nearest_only: bool, code: str) -> None:
    claims: dict[Seat, ActionKind] = {"west": "hu_on_discard", "south": "hu_on_discard"}
    assert code in codes(EVEN, "east", claims=claims, nearest_only=nearest_only)


@pytest.mark.parametrize(
    ("walls", "expected"),
    [
        (seats(9, 10, 10, 10), ["discards_next", "kong_allowed"]),
        (seats(0, 1, 1, 1), ["discards_next", "kong_refused"]),
        (seats(1, 0, 1, 1), ["discards_next", "kong_refused", "last_tile_draw"]),
    ],
)
def test_a_player_in_turn_may_declare_a_kong_only_with_a_replacement_and_outside_ltw(
    walls: dict[Seat, int], expected: list[str]
) -> None:
    assert codes(walls, "east", "hold")[1 : 1 + len(expected)] == expected


def test_the_tile_of_an_added_kong_can_be_claimed_only_for_hu() -> None:
    assert codes(EVEN, "east", "kong", {"south": "pung"})[1:3] == ["wrong_phase", "draws_replacement"]
    assert "added_kong_only" in codes(EVEN, "east", "kong", {"south": "hu_on_discard"})


def test_an_empty_wall_to_draw_from_is_reported() -> None:
    assert codes(seats(0, 1, 1, 1), "east", "draw") == ["ltw_not_reached", "wall_empty"]


def test_an_impossible_count_is_refused() -> None:
    with pytest.raises(RuleError):
        codes(seats(22, 0, 0, 0), "east")


def test_a_draw_out_of_turn_names_the_player_who_drew_or_was_passed_over() -> None:
    """East has discarded and West drew instead of South."""
    before_south_draws = Scene(walls=seats(9, 10, 9, 10), turn="south", phase="draw", dealer="east", claimed_sets={})
    after_west_has_drawn = Scene(walls=seats(9, 10, 9, 10), turn="west", phase="hold", dealer="east", claimed_sets={})
    assert [accused(scene) for scene in (before_south_draws, after_west_has_drawn)] == [
        [("drew_out_of_turn", "west")],
        [("passed_over", "south")],
    ]


def accused(scene: Scene) -> list[tuple[str, object]]:
    return [
        (found.code, found.text.values["seat"])
        for found in what_happened(scene)
        if found.code in ("drew_out_of_turn", "passed_over")
    ]


def test_claimed_sets_are_needed_before_anybody_is_accused() -> None:
    walls = seats(9, 10, 10, 10)  # West has claimed a tile of East's
    assert codes(walls, "west")[-1] == "sets_missing"
    assert codes(walls, "west", claimed_sets={("west", "east"): 1})[-1] == "walls_fit"


def scene_of(play: PlayState) -> Scene:
    """Return the scene that an arbiter would record at the table."""
    sets = [(seat, meld) for seat in SEATS for meld in play.hand(seat).melds]
    turns = play.turns
    replaces = turns.phase == "draw" and turns.extra == "replacement"
    return Scene(
        walls=dict(zip(SEATS, turns.walls, strict=True)),
        turn=turns.turn,
        phase="kong" if replaces else turns.phase,
        dealer=play.deal.dealer,
        claimed_sets=Counter((seat, meld.source) for seat, meld in sets if meld.source),
        kongs=Counter(seat for seat, meld in sets if meld.kind == "kong"),
    )


@given(st.integers(0, 10**6), st.sampled_from(SEATS))
def test_walls_of_a_legal_play_fit_and_an_additional_draw_is_attributed(seed: int, seat: Seat) -> None:
    for play, _ in at_random(seed):
        scene = scene_of(play)
        found = [one.code for one in what_happened(scene)]
        assert {"walls_fit", "wall_empty"} & {*found}
        if scene.walls[seat] and "walls_fit" in found:
            drawn = Scene(
                walls={**scene.walls, seat: scene.walls[seat] - 1},
                turn=scene.turn,
                phase=scene.phase,
                dealer=scene.dealer,
                claimed_sets=scene.claimed_sets,
                kongs=scene.kongs,
            )
            if not (scene.phase == "draw" and scene.turn == seat and scene.walls[seat] == 1):
                assert accused(drawn) == [("drew_out_of_turn", seat)]


@given(st.integers(0, 10**6))
def test_the_player_named_to_draw_next_is_the_one_who_may(seed: int) -> None:
    for play, action in at_random(seed):
        if action.do == "no_claim" and play.turns.phase == "claim":
            found = {one.code: one.text.values for one in what_happened(scene_of(play))}
            if play.turns.ltw:
                assert "exhausted_draw" in found
            else:
                assert found["draws_next"] == {"seat": NEXT_SEAT[play.turns.turn]}


@pytest.mark.parametrize("language", languages())
def test_every_sentence_names_seats_in_its_language(language: str) -> None:
    _ = Translator(language)
    scene = Scene(walls=EVEN, turn="east", phase="claim", claims={"south": "chow", "west": "pung"}, dealer="east")
    sentences = " ".join(found.in_words(_) for found in what_happened(scene))
    assert "{" not in sentences
    assert _("West") in sentences
