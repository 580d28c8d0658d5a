""" "What happened?" at the arbiter's panel: the answers are those of the rules, and asking rules nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.protocol import SEATS
from broker.rules.mcr import Scene, what_happened
from kiosk.input.panel import ArbiterPanel, opened_panel, panel_draft, panel_from_draft, possible_acts, press_panel_key
from kiosk.input.what_happened import SceneForm, press_scene_key
from kiosk.table import Phase
from kiosk.table.events import ArbiterAdmitted, ArbiterLeft
from tests.kiosk.judging import Judged, judged
from tests.kiosk.riichi_tables import RiichiSitting
from tests.kiosk.tables import sitting_in
from tests.pins import PIN

EMPTY = SceneForm("east")
WALLS = ("1", "0", "enter") * 4


def pressed(*keys: str, form: SceneForm = EMPTY) -> SceneForm:
    for key in keys:
        form = press_scene_key(form, key)
    return form


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Judged]:
    with judged(tmp_path) as made:
        yield made


def test_it_asks_for_walls_turn_phase_claimants_and_claims() -> None:
    asked, form = [EMPTY.step], EMPTY
    for key in (*WALLS, "e", "1", "s", "w", "enter", "1", "2"):
        form = press_scene_key(form, key)
        if form.step != asked[-1]:
            asked.append(form.step)
    assert asked == ["walls", "turn", "phase", "claimants", "claim", "answer"]


def test_it_gives_the_answers_of_the_rules() -> None:
    form = pressed(*WALLS, "e", "1", "s", "w", "enter", "1", "2")
    scene = Scene(
        walls=dict.fromkeys(SEATS, 10),
        turn="east",
        phase="claim",
        claims={"south": "chow", "west": "pung"},
        dealer="east",
    )
    assert form.answers == what_happened(scene)


@pytest.mark.parametrize("phase", ["2", "3"])
def test_claimants_are_asked_for_only_with_an_open_tile(phase: str) -> None:
    assert pressed(*WALLS, "s", phase).step == "answer"


def test_claimed_sets_explain_the_walls() -> None:
    form = pressed(*"9", "enter", *WALLS[3:], "n", "2")
    assert (form.may_say_sets, form.answers[-1].code) == (True, "sets_missing")
    # South has claimed from north: west and north were passed over, east was not.
    form = pressed("2", "enter", *"n", "enter", "enter", "enter", form=form)
    taken = {(seat, other): 0 for seat in SEATS for other in SEATS if other != seat} | {("south", "north"): 1}
    scene = Scene(
        walls=dict(zip(SEATS, (9, 10, 10, 10), strict=True)),
        turn="north",
        phase="draw",
        dealer="east",
        claimed_sets=taken,
        kongs=dict.fromkeys(SEATS, 0),
    )
    assert form.answers == what_happened(scene)


def test_only_the_nearest_wins_if_the_event_says_so() -> None:
    keys = (*WALLS, "e", "1", "s", "w", "enter", "4", "4")
    assert "nearest_wins" in {one.code for one in pressed(*keys, form=SceneForm("east", one_winner=True)).answers}
    assert "all_win" in {one.code for one in pressed(*keys).answers}


@given(keys=st.lists(st.sampled_from([*"0129eswnk", "enter", "clear", "back", "x"]), max_size=60))
def test_back_removes_the_last_key_that_had_a_meaning(keys: list[str]) -> None:
    form = EMPTY
    for key in keys:
        further = press_scene_key(form, key)
        if key not in ("back", "clear") and further != form:
            assert press_scene_key(further, "back") == form
        form = further
    assert pressed(*form.pressed) == form
    assert bool(form.answers) == (form.step == "answer")


def test_a_wall_has_at_most_21_tiles() -> None:
    assert pressed("2", "2").digits == "2"
    assert pressed("2", "1", "enter").walls == (21,)
    assert pressed("0", "enter").walls == (0,)


def test_an_arbiter_can_ask_at_the_table_and_then_rule(table: Judged) -> None:
    table.come_to(Phase.PLAYING)
    table.type("a", *PIN, "enter", str(possible_acts(table.program.state).index("what_happened") + 1))
    before = table.happened()
    table.type(*WALLS, "e", "3")
    panel = table.program.view().panel
    assert panel is not None
    assert panel.scene is not None
    assert [one.code for one in panel.scene.answers][:3] == ["ltw_not_reached", "discards_next", "kong_allowed"]
    assert table.happened() == before
    table.type("enter")
    again = table.program.view().panel
    assert again is not None
    assert (again.ask, again.scene) == ("act", panel.scene)
    table.type("back")
    assert [type(one) for one in table.happened()[-2:]] == [ArbiterAdmitted, ArbiterLeft]


def test_the_input_survives_a_power_cut() -> None:
    sitting = sitting_in(Phase.PLAYING)
    sitting.admit()
    panel = opened_panel(sitting.table)
    for key in (str(panel.acts.index("what_happened") + 1), *WALLS, "s"):
        further = press_panel_key(panel, key)
        assert isinstance(further, ArbiterPanel)
        panel = further
    assert panel.scene is not None
    assert panel.scene.turn == "south"
    assert panel_from_draft(panel_draft(panel), sitting.table) == panel


def test_it_is_offered_only_in_a_play_and_not_for_riichi() -> None:
    assert {phase for phase in Phase if "what_happened" in possible_acts(sitting_in(phase).table)} == {
        Phase.PLAYING,
        Phase.CLAIMING,
        Phase.DECLARED,
        Phase.ACCEPTING,
    }
    riichi = RiichiSitting()
    riichi.begin()
    assert "what_happened" not in possible_acts(riichi.table)
