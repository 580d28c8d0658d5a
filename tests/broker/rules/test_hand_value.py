"""A face-down hand is counted as `homologue fan` and `homologue riichi` count its faces."""

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


def calculate(command: Any, questions: list[dict[str, Any]], *options: str) -> list[dict[str, Any]]:  # noqa: ANN401 - a click command
    """Return the answers of a calculator command."""
    lines = "\n".join(map(json.dumps, questions))
    run = CliRunner().invoke(command, ["--json", *options], input=lines)
    return [json.loads(line) for line in run.stdout.splitlines()]


def texts(value: Any) -> set[str]:  # noqa: ANN401 - any JSON
    """Return every string in a JSON value."""
    if isinstance(value, dict):
        return {text for part in value.values() for text in texts(part)}
    if isinstance(value, list):
        return {text for part in value for text in texts(part)}
    return {value} if isinstance(value, str) else set()


# ---- MCR ----------------------------------------------------------------------------------------


def as_mcr(hand: McrHand, how: McrSituation, rng: Random) -> tuple[AnyCountAnswer, LaidDown]:
    """Lay an MCR hand down, describe it without recorded walls, and have it counted."""
    laid_hand = lay_down(hand.concealed, [meld.tiles for meld in hand.melds], hand.winning_tile, rng)
    kongs = tuple(at for at, meld in enumerate(hand.melds, 2) if meld.concealed)
    details = McrWinDetails(
        last_tile=how.last_tile,
        kong=how.kong,
        last_of_kind=how.last_of_kind,
        laid=HandLayout(self_drawn=how.self_drawn, concealed_kongs=kongs),
    )
    seat = SEATS[(SEATS.index("south") + SEATS.index(how.seat_wind)) % 4]
    tiles = KnownTiles(laid_hand.faces, None, how.prevalent_wind, "south")  # type: ignore[arg-type]  # a wind's name
    return answer_count(laid_hand.request(details, seat), tiles, OEDMC), laid_hand


@COSTLY
@given(regular_hands(), situations(), st.integers(0, 2**32))
def test_every_mcr_hand_is_counted_as_the_calculator_counts_it(hand: McrHand, how: McrSituation, seed: int) -> None:
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
    (expected,) = calculate(fan, [question], "--minimum", "0")
    if isinstance(answer, NotCounted):
        assert expected["error"]["code"] == answer.code
    else:
        assert isinstance(answer, McrValue)
        assert (answer.fan, answer.minimum) == (expected["fan"], 8)
        assert [(fan_name(one.id), one.fan) for one in answer.elements] == [
            (one["name"], one["fan"]) for one in expected["elements"]
        ]


# ---- riichi -------------------------------------------------------------------------------------


def as_riichi(
    hand: of_riichi.RiichiHand, how: of_riichi.RiichiSituation, rng: Random, *, registered: bool = False
) -> AnyCountAnswer:
    """Lay a riichi hand down, describe it, and have it counted.

    `registered`: the set is registered with its red fives, and the details report none.
    """
    plain = tuple[str, ...] if registered else of_riichi.without_red
    laid_hand = lay_down(
        plain(hand.concealed),
        [plain(meld.tiles) for meld in hand.melds],
        plain((hand.winning_tile,))[0],
        rng,
        (plain(how.dora_indicators), plain(how.ura_indicators)),
    )
    kongs = tuple(at for at, meld in enumerate(hand.melds, 2) if not meld.open)
    moments: dict[WinTiming, bool] = {
        "last_tile": how.haitei or how.houtei,
        "kan": how.rinshan or how.chankan,
        "first_turn": how.first_turn,
    }
    seat = SEATS[(SEATS.index("west") + SEATS.index(how.seat_wind)) % 4]
    details = RiichiWinDetails(
        laid=HandLayout(self_drawn=how.self_drawn, concealed_kongs=kongs),
        round_wind=how.round_wind,  # type: ignore[arg-type]  # a wind's name
        dealer="west",
        riichi=KINDS_OF_RIICHI[how.riichi, how.open_riichi],
        ippatsu=how.ippatsu,
        moment=next((moment for moment, was in moments.items() if was), None),
        red_fives=0 if registered else sum(tile in RED for tile in hand.all_tiles),
        dora=laid_hand.under[0],
        ura=laid_hand.under[1],
    )
    return answer_count(laid_hand.request(details, seat), KnownTiles(laid_hand.faces), TENHOU)


def question_of(hand: of_riichi.RiichiHand, how: of_riichi.RiichiSituation) -> dict[str, Any]:
    """Return the same question for the calculator. Only the session adds a win after eight counters."""
    question: dict[str, Any] = msgspec.to_builtins(how) | {"after_eight_counters": False}
    melds = [{"kind": meld.kind, "tiles": meld.tiles, "open": meld.open} for meld in hand.melds]
    return question | {"concealed": hand.concealed, "winning_tile": hand.winning_tile, "melds": melds}


def test_every_riichi_hand_is_counted_as_the_calculator_counts_it() -> None:
    wins = [winning_hand(Random(seed)) for seed in range(HANDS)]
    expected = calculate(riichi_group, [question_of(*win) for win in wins], "--rules", "tenhou")
    answers = [as_riichi(*win, Random(seed)) for seed, win in enumerate(wins)]
    assert [_comparable(answer) for answer in answers] == [_comparable_json(one) for one in expected]
    assert sum(isinstance(answer, RiichiValue) for answer in answers) > HANDS / 3


def test_registered_red_fives_give_the_same_value_as_reported_ones() -> None:
    rng = Random(5)
    hands = [win for win in (winning_hand(rng) for _ in range(60)) if not RED.keys().isdisjoint(win[0].all_tiles)]
    assert len(hands) > 10
    for hand, how in hands:
        registered_value, reported_value = (
            as_riichi(hand, how, Random(1), registered=registered) for registered in (True, False)
        )
        assert _comparable(registered_value) == _comparable(reported_value)


def _comparable(answer: AnyCountAnswer) -> object:
    if not isinstance(answer, RiichiValue):
        return msgspec.to_builtins(answer).get("code")
    yaku, fu = [(one.id, one.han) for one in answer.yaku], [(one.id, one.fu) for one in answer.items]
    return answer.han, answer.fu, answer.yakuman, yaku, fu


def _comparable_json(answer: dict[str, Any]) -> object:
    if "error" in answer:
        return answer["error"]["code"]
    yaku = [(one["id"], one["han"]) for one in answer["yaku"]]
    fu = [(one["id"], one["fu"]) for one in answer.get("fu_items", ())]
    return answer["han"], answer["fu"], answer["yakuman"], yaku, fu


def test_the_registry_overrides_the_reported_number_of_red_fives() -> None:
    laid_hand = lay_down(
        ("2m", "3m", "4m", "6p", "7p", "8p", "2s", "3s", "4s", "6s", "6s", "4p", "5p"), (), "6p", Random(3)
    )
    red, *_ = (serial for serial in laid_hand.groups[0] if laid_hand.faces[serial] == "5p")
    others = {laid_hand.faces[serial]: serial for serial in laid_hand.faces if laid_hand.faces[serial] in ("5m", "5s")}
    faces = {**laid_hand.faces, red: "0p", others["5m"]: "0m", others["5s"]: "0s"}
    details = RiichiWinDetails(laid=HandLayout(self_drawn=False), round_wind="east", dealer="east", red_fives=3)
    answer = answer_count(laid_hand.request(details), KnownTiles(faces), TENHOU)
    assert isinstance(answer, RiichiValue)
    assert {one.id: one.han for one in answer.yaku}["red_five"] == 1


# ---- what answers never reveal ------------------------------------------------------------------


@COSTLY
@given(regular_hands(), situations(), st.integers(0, 2**32))
def test_no_answer_contains_a_face(hand: McrHand, how: McrSituation, seed: int) -> None:
    answers = [as_mcr(hand, how, Random(seed))[0], as_riichi(*winning_hand(Random(seed)), Random(seed))]
    for answer in answers:
        answer_texts = texts(json.loads(encode(answer)))  # type: ignore[arg-type]  # any struct
        assert answer_texts.isdisjoint({*KINDS, *RED})


SERIALS: Final = tuple(range(136))
OF_SERIALS: Final = {"wrong_tile_count", "not_a_meld", "tile_laid_twice", "concealed_meld"}
"""Refusals that depend on the serials alone."""


def shuffled(seed: int) -> dict[int, str]:
    """Return a registry with shuffled faces."""
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
def test_the_refusal_of_a_losing_hand_does_not_depend_on_its_faces(
    serials: list[int], melds: list[int], flags: tuple[bool, bool], seeds: list[int], rules: str
) -> None:
    (kind, last), groups, at = flags, [], 0
    for size in (13 - 3 * len(melds), *melds, 1):
        groups.append(tuple(serials[at : at + size]))
        at += size
    laid = HandLayout(self_drawn=True)
    details = (
        McrWinDetails(laid=laid, last_of_kind=kind, last_tile=last)
        if rules == "mcr"
        else RiichiWinDetails(laid=laid, round_wind="east", dealer="east", red_fives=3 * kind, ippatsu=last)
    )
    request = CountRequest(
        id="asked", event="cup", table=1, round=1, deal=1, seat="east", groups=tuple(groups), said=details
    )
    answers = [answer_count(request, KnownTiles(shuffled(seed)), OEDMC if rules == "mcr" else TENHOU) for seed in seeds]
    refusals = {answer.code for answer in answers if isinstance(answer, NotCounted)}
    assert refusals <= {"not_winning"} or refusals <= OF_SERIALS
    assert len(refusals) == 1


@pytest.mark.parametrize(
    ("details", "rules", "code"),
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
def test_details_that_do_not_fit_the_rules_or_the_hand_are_refused_with_their_code(
    details: McrWinDetails | RiichiWinDetails,
    rules: Rules,
    code: str,
) -> None:
    laid_hand = lay_down(
        ("1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1p", "2p", "3p", "1z"), (), "1z", Random(1)
    )
    if isinstance(details, RiichiWinDetails) and details.dora:
        details = msgspec.structs.replace(details, dora=laid_hand.groups[-1])
    codes = {"red": "red_fives_unclear", "twice": "tile_laid_twice"}
    assert answer_count(laid_hand.request(details), KnownTiles(laid_hand.faces), rules) == NotCounted(
        code=codes.get(code, code)
    )
