"""Every seat of every practice play can win: its hand is laid, drawn, read and counted as at a real table."""

import json
from pathlib import Path
from typing import Final

import cv2

from broker.protocol import (
    SEATS,
    AnyCountAnswer,
    Beat,
    Counted,
    CountRequest,
    HandLayout,
    LogMessage,
    McrValue,
    McrWinDetails,
    NotCounted,
    PlayFound,
    Restored,
    ScorerState,
    Seat,
    decode_on_topic,
    encode,
    topics,
)
from broker.protocol.link import Incoming, LinkChanged
from broker.rules import FULL_SET, KINDS, form_hash
from kiosk.camera.loop import read_hand, seen_tile
from kiosk.camera.observations import HandObservation
from kiosk.counting.questions import serials_by_group
from kiosk.practice.deals import EVENT, FACES, MISTAKES, TABLE, Groups, mistaken_hand, practice_plan, winning_hand
from kiosk.practice.scorer import PracticeScorer
from vision.cameras.addresses import open_camera
from vision.rivers import hand_groups
from vision.sim.scene import lay_hand
from vision.sim.table import SimulatedTable
from vision.sim.table import SimulatedTile as LaidTile

PLAYS: Final = practice_plan().plays
PAGE: Final = Path(__file__).parents[3] / "docs/practice.md"


class Asked:
    """The practice table's scorer, after walls that were read or ticked."""

    def __init__(self, *, verified: bool = True) -> None:
        self.told: list[Counted] = []
        self.payloads: list[bytes] = []
        self._scorer = PracticeScorer(practice_plan(), self._hear)
        self._scorer.start()
        for seq, play in enumerate(PLAYS, 1):
            walls = Restored(
                round=play.round, deal=play.deal, verified=verified, form=form_hash(play.order), refusals=0
            )
            message = LogMessage(id=f"practice-fact-{seq}", event=EVENT, table=TABLE, seq=seq, at=1, fact=walls)
            self._scorer.publish(topics.LOG.at(EVENT, table=TABLE), encode(message), retain=False)

    def _hear(self, item: Incoming | LinkChanged) -> None:
        if isinstance(item, Incoming):
            _, message = decode_on_topic(item.topic, item.payload)
            if isinstance(message, Counted):
                self.told.append(message)
                self.payloads.append(item.payload)

    def about(self, at: int, seat: Seat, groups: Groups, said: McrWinDetails = McrWinDetails()) -> AnyCountAnswer:  # noqa: B008 - frozen
        request = CountRequest(
            id="asked-0001", event=EVENT, table=TABLE, round=at, deal=at, seat=seat, groups=groups, said=said
        )
        self._scorer.publish(topics.COUNT.at(EVENT, table=TABLE), encode(request), retain=False)
        assert self.told[-1].asked == "asked-0001"
        answer = self.told[-1].answer
        assert not isinstance(answer, PlayFound)
        return answer


def plain(tiles: list[list[LaidTile]]) -> Groups:
    return tuple(tuple(tile.serial for tile in group) for group in tiles)


def test_the_practice_scorer_is_online_as_long_as_the_table() -> None:
    heard = list[str]()

    def hear(item: Incoming | LinkChanged) -> None:
        if isinstance(item, Incoming) and isinstance(said := decode_on_topic(item.topic, item.payload)[1], ScorerState):
            heard.append(said.lifecycle)

    scorer = PracticeScorer(practice_plan(), hear)
    scorer.start()
    beat = Beat(id="beat-0001", event=EVENT, table=TABLE, device="practice-device", start=1)
    for _ in range(2):
        scorer.publish(topics.BEAT.at(EVENT, table=TABLE), encode(beat), retain=False)
    assert heard == ["active", "active"]


def test_the_practice_set_has_every_face_four_times() -> None:
    assert sorted(FACES.values()) == sorted(FULL_SET)


def test_every_seat_has_a_hand_of_sufficient_value_whose_faces_are_not_sent() -> None:
    asked = Asked()
    for play in PLAYS:
        for seat in SEATS:
            answer = asked.about(play.round, seat, winning_hand(play, seat))
            assert isinstance(answer, McrValue), (play.round, seat, answer)
            assert answer.fan >= answer.minimum
    for payload in asked.payloads:
        told = json.loads(payload)
        assert {one["id"] for one in told["answer"]["elements"]}.isdisjoint(KINDS)
        assert {*told["answer"]} == {"kind", "fan", "minimum", "elements"}


def test_the_last_mistake_is_a_hand_that_does_not_win() -> None:
    asked = Asked()
    answers = {
        asked.about(play.round, seat, plain(mistaken_hand(play, winning_hand(play, seat), MISTAKES - 1)))
        for play in PLAYS
        for seat in SEATS
    }
    assert answers == {NotCounted(code="not_winning")}


def test_with_ticked_walls_the_practice_scorer_asks_as_a_real_one() -> None:
    asked, groups = Asked(verified=False), winning_hand(PLAYS[0], "east")
    assert asked.about(1, "east", groups) == NotCounted(code="walls_not_read")
    said = McrWinDetails(laid=HandLayout(self_drawn=False))
    assert isinstance(asked.about(1, "east", groups, said), McrValue)


def seen(tiles: list[list[LaidTile]], folder: Path) -> HandObservation:
    """Save a hand as a picture in a folder, and read it from there as a camera of pictures does."""
    world = SimulatedTable()
    world.spread(lay_hand(tiles))
    with open_camera("sim://tray", world=world) as camera:
        cv2.imwrite(str(folder / "hand.png"), camera.frame())
    with open_camera(f"pictures:{folder}") as camera:
        reads = read_hand(camera.frame()).reads
    return HandObservation(
        tuple(tuple(seen_tile(read, 1) for read in group) for group in hand_groups(reads)), still=True
    )


def test_a_hand_drawn_as_a_picture_is_read_from_a_folder_and_counted(tmp_path: Path) -> None:
    groups = winning_hand(PLAYS[0], "west")
    sight = seen([[LaidTile(1, serial) for serial in group] for group in groups], tmp_path)
    assert serials_by_group(sight) == groups
    assert isinstance(Asked().about(1, "west", serials_by_group(sight)), McrValue)


def test_each_mistake_is_different_and_all_other_tiles_lie_correctly() -> None:
    groups = winning_hand(PLAYS[0], "south")
    laid = [mistaken_hand(PLAYS[0], groups, number) for number in range(MISTAKES)]
    assert [len(group) for group in laid[0]] == [*map(len, groups[:-2]), len(groups[-2]) + 1]
    assert [(tile.face_up, tile.set) for tile in (laid[1][0][0], laid[2][0][0])] == [(True, 1), (False, 2)]
    assert plain(laid[3]) == (groups[0][1:], *groups[1:])
    assert [plain(one)[1:] for one in laid[1:]] == [groups[1:]] * (MISTAKES - 1)


def test_the_page_gives_the_numbers_to_lay_with_a_real_set() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for seat in SEATS:
        written = " · ".join(" ".join(map(str, group)) for group in winning_hand(PLAYS[0], seat))
        assert f"| {seat.capitalize()} | {written} |" in page
