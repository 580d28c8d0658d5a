"""A hand that is counted from its backs is worth what `homologue fan` and `homologue riichi` say of its faces."""

import json
from random import Random
from typing import Any, Final

import msgspec
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from broker.cli.calculators import fan
from broker.cli.riichi import riichi_group
from broker.protocol import (
    SEATS,
    AnyCountAnswer,
    CountRequest,
    HandLayout,
    McrValue,
    McrWinDetails,
    NotCounted,
    RiichiDeclared,
    RiichiValue,
    RiichiWinDetails,
    WinTiming,
    encode,
)
from broker.rules import KINDS, RED, Rules, load_rules
from broker.rules.hand_value import KnownTiles, answer_count
from broker.rules.mcr import McrHand, McrSituation, fan_name
from broker.rules.riichi import hand as of_riichi
from tests.benchmarks.riichi.hands import winning_hand
from tests.broker.rules.face_down_hands import LaidDown, lay_down
from tests.broker.rules.mcr.strategies import regular_hands, situations
from tests.examples import COSTLY

OEDMC: Final = load_rules("oedmc-2020")
TENHOU: Final = load_rules("riichi-tenhou")
MONTREAL: Final = load_rules("riichi-montreal")

HANDS: Final = 40


KINDS_OF_RIICHI: Final[dict[tuple[int, bool], RiichiDeclared | None]] = {
    (0, False): None,
    (1, False): "riichi",
    (2, False): "double_riichi",
    (1, True): "open_riichi",
    (2, True): "double_open_riichi",
}


def told_by(command: Any, questions: list[dict[str, Any]], *options: str) -> list[dict[str, Any]]:  # noqa: ANN401 - a click command
    """Ask a calculator."""
    lines = "\n".join(map(json.dumps, questions))
    run = CliRunner().invoke(command, ["--json", *options], input=lines)
    return [json.loads(line) for line in run.stdout.splitlines()]


def texts(told: Any) -> set[str]:  # noqa: ANN401 - any JSON
    """Return every text in what is told."""
    if isinstance(told, dict):
        return {text for value in told.values() for text in texts(value)}
    if isinstance(told, list):
        return {text for value in told for text in texts(value)}
    return {told} if isinstance(told, str) else set()


# ---- MCR ----------------------------------------------------------------------------------------


def as_mcr(hand: McrHand, how: McrSituation, chance: Random) -> tuple[AnyCountAnswer, LaidDown]:
    """Lay a hand down where nothing has read the walls, say of it what there is to say, and have it counted."""
    lies = lay_down(hand.concealed, [meld.tiles for meld in hand.melds], hand.winning_tile, chance)
    kongs = tuple(at for at, meld in enumerate(hand.melds, 2) if meld.concealed)
    said = McrWinDetails(
        last_tile=how.last_tile,
        kong=how.kong,
        last_of_kind=how.last_of_kind,
        laid=HandLayout(self_drawn=how.self_drawn, concealed_kongs=kongs),
    )
    seat = SEATS[(SEATS.index("south") + SEATS.index(how.seat_wind)) % 4]
    tiles = KnownTiles(lies.faces, None, how.prevalent_wind, "south")  # type: ignore[arg-type]  # a wind's name
    return answer_count(lies.asked(said, seat), tiles, OEDMC), lies


@COSTLY
@given(regular_hands(), situations(), st.integers(0, 2**32))
def test_whatever_hand_is_laid_its_fan_are_those_of_the_calculator(hand: McrHand, how: McrSituation, seed: int) -> None:
    answer, _ = as_mcr(hand, how, Random(seed))
    question = {
        "concealed": hand.concealed,
        "melds": [{"kind": one.kind, "tiles": one.tiles, "concealed": one.concealed} for one in hand.melds],
        "winning_tile": hand.winning_tile,
        "self_drawn": how.self_drawn,
        "seat_wind": how.seat_wind,
        "prevalent_wind": how.prevalent_wind,
        "last_tile": how.last_tile,
    }
    (told,) = told_by(fan, [question], "--minimum", "0")
    if isinstance(answer, NotCounted):
        assert told["error"]["code"] == answer.code
    else:
        assert isinstance(answer, McrValue)
        assert (answer.fan, answer.minimum) == (told["fan"], 8)
        assert [(fan_name(one.id), one.fan) for one in answer.elements] == [
            (one["name"], one["fan"]) for one in told["elements"]
        ]


# ---- riichi -------------------------------------------------------------------------------------


def as_riichi(
    hand: of_riichi.RiichiHand, how: of_riichi.RiichiSituation, chance: Random, *, registered: bool = False
) -> AnyCountAnswer:
    """Lay a riichi hand down, say of it what there is to say, and have it counted.

    `registered`: the set was registered with its red fives, and nobody counts them.
    """
    plain = tuple[str, ...] if registered else of_riichi.without_red
    lies = lay_down(
        plain(hand.concealed),
        [plain(meld.tiles) for meld in hand.melds],
        plain((hand.winning_tile,))[0],
        chance,
        (plain(how.dora_indicators), plain(how.ura_indicators)),
    )
    kongs = tuple(at for at, meld in enumerate(hand.melds, 2) if not meld.open)
    moments: dict[WinTiming, bool] = {
        "last_tile": how.haitei or how.houtei,
        "kan": how.rinshan or how.chankan,
        "first_turn": how.first_turn,
    }
    seat = SEATS[(SEATS.index("west") + SEATS.index(how.seat_wind)) % 4]
    said = RiichiWinDetails(
        laid=HandLayout(self_drawn=how.self_drawn, concealed_kongs=kongs),
        round_wind=how.round_wind,  # type: ignore[arg-type]  # a wind's name
        dealer="west",
        riichi=KINDS_OF_RIICHI[how.riichi, how.open_riichi],
        ippatsu=how.ippatsu,
        moment=next((moment for moment, was in moments.items() if was), None),
        red_fives=0 if registered else sum(tile in RED for tile in hand.all_tiles),
        dora=lies.under[0],
        ura=lies.under[1],
    )
    return answer_count(lies.asked(said, seat), KnownTiles(lies.faces), TENHOU)


def question_of(hand: of_riichi.RiichiHand, how: of_riichi.RiichiSituation) -> dict[str, Any]:
    """Ask the calculator the same. A win after eight counters is the session's to add."""
    told: dict[str, Any] = msgspec.to_builtins(how) | {"after_eight_counters": False}
    melds = [{"kind": meld.kind, "tiles": meld.tiles, "open": meld.open} for meld in hand.melds]
    return told | {"concealed": hand.concealed, "winning_tile": hand.winning_tile, "melds": melds}


def test_whatever_hand_of_riichi_is_laid_its_han_and_fu_are_those_of_the_calculator() -> None:
    wins = [winning_hand(Random(seed)) for seed in range(HANDS)]
    told = told_by(riichi_group, [question_of(*win) for win in wins], "--rules", "tenhou")
    answers = [as_riichi(*win, Random(seed)) for seed, win in enumerate(wins)]
    assert [_comparable(answer) for answer in answers] == [_comparable_told(one) for one in told]
    assert sum(isinstance(answer, RiichiValue) for answer in answers) > HANDS / 3


def test_red_fives_of_a_set_that_was_registered_with_them_are_counted_by_themselves() -> None:
    chance = Random(5)
    hands = [win for win in (winning_hand(chance) for _ in range(60)) if not RED.keys().isdisjoint(win[0].all_tiles)]
    assert len(hands) > 10
    for hand, how in hands:
        known, told = (as_riichi(hand, how, Random(1), registered=registered) for registered in (True, False))
        assert _comparable(known) == _comparable(told)


def _comparable(answer: AnyCountAnswer) -> object:
    if not isinstance(answer, RiichiValue):
        return msgspec.to_builtins(answer).get("code")
    yaku, fu = [(one.id, one.han) for one in answer.yaku], [(one.id, one.fu) for one in answer.items]
    return answer.han, answer.fu, answer.yakuman, yaku, fu


def _comparable_told(told: dict[str, Any]) -> object:
    if "error" in told:
        return told["error"]["code"]
    yaku = [(one["id"], one["han"]) for one in told["yaku"]]
    fu = [(one["id"], one["fu"]) for one in told.get("fu_items", ())]
    return told["han"], told["fu"], told["yakuman"], yaku, fu


def test_a_set_that_is_registered_with_its_red_fives_tells_them_by_itself() -> None:
    lies = lay_down(("2m", "3m", "4m", "6p", "7p", "8p", "2s", "3s", "4s", "6s", "6s", "4p", "5p"), (), "6p", Random(3))
    red, *_ = (serial for serial in lies.groups[0] if lies.faces[serial] == "5p")
    others = {lies.faces[serial]: serial for serial in lies.faces if lies.faces[serial] in ("5m", "5s")}
    faces = {**lies.faces, red: "0p", others["5m"]: "0m", others["5s"]: "0s"}
    said = RiichiWinDetails(laid=HandLayout(self_drawn=False), round_wind="east", dealer="east", red_fives=3)
    answer = answer_count(lies.asked(said), KnownTiles(faces), TENHOU)
    assert isinstance(answer, RiichiValue)
    assert {one.id: one.han for one in answer.yaku}["red_five"] == 1


# ---- what is never told -------------------------------------------------------------------------


@COSTLY
@given(regular_hands(), situations(), st.integers(0, 2**32))
def test_no_answer_holds_a_face(hand: McrHand, how: McrSituation, seed: int) -> None:
    answers = [as_mcr(hand, how, Random(seed))[0], as_riichi(*winning_hand(Random(seed)), Random(seed))]
    for answer in answers:
        told = texts(json.loads(encode(answer)))  # type: ignore[arg-type]  # any struct
        assert told.isdisjoint({*KINDS, *RED})


SERIALS: Final = tuple(range(136))
OF_SERIALS: Final = {"wrong_tile_count", "not_a_meld", "tile_laid_twice", "concealed_meld"}
"""Refusals that need no face."""


def shuffled(seed: int) -> dict[int, str]:
    """Return a registry in which faces lie anywhere."""
    faces = [face for face in KINDS for _ in range(4)]
    Random(seed).shuffle(faces)
    return dict(zip(SERIALS, faces, strict=True))


@COSTLY
@given(
    st.permutations(SERIALS),
    st.lists(st.sampled_from((3, 4)), max_size=4),
    st.tuples(st.booleans(), st.booleans()),
    st.lists(st.integers(0, 2**32), min_size=4, max_size=4),
    st.sampled_from(("mcr", "riichi")),
)
def test_misses_of_the_same_serials_have_one_answer_whatever_faces_lie_there(
    serials: list[int], melds: list[int], flags: tuple[bool, bool], seeds: list[int], rules: str
) -> None:
    (kind, last), groups, at = flags, [], 0
    for size in (13 - 3 * len(melds), *melds, 1):
        groups.append(tuple(serials[at : at + size]))
        at += size
    laid = HandLayout(self_drawn=True)
    said = (
        McrWinDetails(laid=laid, last_of_kind=kind, last_tile=last)
        if rules == "mcr"
        else RiichiWinDetails(laid=laid, round_wind="east", dealer="east", red_fives=3 * kind, ippatsu=last)
    )
    request = CountRequest(
        id="asked", event="cup", table=1, round=1, deal=1, seat="east", groups=tuple(groups), said=said
    )
    answers = [answer_count(request, KnownTiles(shuffled(seed)), OEDMC if rules == "mcr" else TENHOU) for seed in seeds]
    missed = {answer.code for answer in answers if isinstance(answer, NotCounted)}
    assert missed <= {"not_winning"} or missed <= OF_SERIALS
    assert len(missed) == 1


@pytest.mark.parametrize(
    ("said", "rules", "code"),
    [
        (McrWinDetails(), OEDMC, "walls_not_read"),
        (McrWinDetails(), MONTREAL, "no_fan_here"),
        (RiichiWinDetails(laid=HandLayout(self_drawn=True), round_wind="east", dealer="east"), OEDMC, "no_han_here"),
        (
            RiichiWinDetails(laid=HandLayout(self_drawn=True), round_wind="east", dealer="east", red_fives=3),
            TENHOU,
            "red",
        ),
        (
            RiichiWinDetails(laid=HandLayout(self_drawn=True), round_wind="east", dealer="east", dora=(0,)),
            TENHOU,
            "twice",
        ),
    ],
)
def test_what_is_not_for_these_rules_or_cannot_be_is_refused_with_its_code(
    said: McrWinDetails | RiichiWinDetails,
    rules: Rules,
    code: str,
) -> None:
    lies = lay_down(("1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1p", "2p", "3p", "1z"), (), "1z", Random(1))
    if isinstance(said, RiichiWinDetails) and said.dora:
        said = msgspec.structs.replace(said, dora=lies.groups[-1])
    codes = {"red": "red_fives_unclear", "twice": "tile_laid_twice"}
    assert answer_count(lies.asked(said), KnownTiles(lies.faces), rules) == NotCounted(code=codes.get(code, code))
