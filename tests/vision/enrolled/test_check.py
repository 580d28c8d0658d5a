"""When a serial counts that readers and enrolled pictures give together."""

from dataclasses import replace

import numpy as np
import pytest

from vision.enrolled.check import CONFIRMS, DECIDES, TURNS, Threshold, agreed_mark
from vision.enrolled.likeness import OwnPicture, Rival
from vision.marks import TileMark
from vision.marks.label import NO_MARK

READ = TileMark(110, None, turned=False, confidence=0.99, spot=np.zeros(2), pitch=0.25)
UNREAD = replace(READ, serial=None, turned=None, confidence=0.4)


def own(
    serial: int = 110,
    likeness: float = 0.95,
    lead: float = 0.9,
    odds: float = 2.0,
    *,
    turned: bool = False,
    others: tuple[Rival, ...] = (),
) -> OwnPicture:
    return OwnPicture(serial, turned, likeness, (Rival(112, turned, lead, odds), *others))


def test_a_serial_that_both_give_keeps_the_readers_confidence() -> None:
    mark = agreed_mark(READ, own(), None)
    assert (mark.serial, mark.turned, mark.confidence, mark.likeness) == (110, False, 0.99, 0.95)
    assert agreed_mark(READ, own(likeness=0.912345), None).likeness == 0.9123


def test_a_serial_that_the_tiles_picture_contradicts_is_not_read() -> None:
    """Tile 10 of a set without leading zeros, read as 110 by a reader that expects three digits."""
    mark = agreed_mark(READ, own(10), None)
    assert (mark.serial, mark.likeness) == (None, None)
    assert mark.confidence < 0.95


def test_thresholds_are_those_chosen_on_calibration_pictures() -> None:
    chosen = (Threshold(0.6, 0.25, 0.35), Threshold(0.8, 0.35, 0.65), Threshold(0.8, 0.5, 2.0))
    assert chosen == (CONFIRMS, DECIDES, TURNS)


BELOW = 1e-6


def test_a_picture_decides_from_its_thresholds_on() -> None:
    like, lead, odds = DECIDES.likeness, DECIDES.lead, DECIDES.odds
    assert agreed_mark(UNREAD, own(110, like, lead, odds), None).serial == 110
    assert agreed_mark(UNREAD, own(110, like - BELOW, lead, odds), None).serial is None
    assert agreed_mark(UNREAD, own(110, like, lead - BELOW, odds), None).serial is None
    assert agreed_mark(UNREAD, own(110, like, lead, odds - BELOW), None).serial is None


@pytest.mark.parametrize(
    ("mark", "share"),
    [
        (replace(UNREAD, serial=110, confidence=0.3), 0.7),
        (replace(UNREAD, either=(11, 110), confidence=0.3), 0.7),
        (replace(UNREAD, serial=110, confidence=0.2999), 1.0),
        (replace(UNREAD, serial=118, confidence=0.9), 1.0),
        (replace(UNREAD, serial=110, turned=False), 0.7),
        (replace(UNREAD, serial=110, turned=True), 1.0),
        (UNREAD, 1.0),
    ],
)
def test_a_picture_needs_seven_tenths_of_the_threshold_if_a_reader_agrees(mark: TileMark, share: float) -> None:
    at_bar = [share * part for part in (DECIDES.likeness, DECIDES.lead, DECIDES.odds)]
    above, below = ([part + off for part in at_bar] for off in (BELOW, -BELOW))
    assert agreed_mark(mark, own(110, *above), None).serial == 110
    assert agreed_mark(mark, own(110, *above), None).confidence == pytest.approx(0.95, abs=1e-4)
    assert agreed_mark(mark, own(110, *below), None).serial is None


def test_a_number_that_is_the_same_upside_down_is_read_either_way_up() -> None:
    at_bar = [0.8 * part for part in (DECIDES.likeness, DECIDES.lead, DECIDES.odds)]
    like, rival = own(101, *at_bar), Rival(101, turned=True, lead=0.1, odds=0.1)
    seen = replace(like, rivals=(rival, *like.rivals))
    assert agreed_mark(replace(UNREAD, serial=101, turned=True), seen, None).serial == 101


def likest(serial: int, claimed: Rival, likeness: float = CONFIRMS.likeness) -> OwnPicture:
    return OwnPicture(serial, turned=False, likeness=likeness, rivals=(claimed,))


def test_a_sure_reader_counts_if_pictures_cannot_distinguish_its_serial() -> None:
    """Very pale ink: the clouds in the plastic make 128 slightly likelier than 123."""
    near = Rival(110, turned=False, lead=CONFIRMS.lead - BELOW, odds=CONFIRMS.odds - BELOW)
    assert agreed_mark(READ, likest(118, near), None).serial == 110
    assert agreed_mark(READ, likest(110, replace(near, serial=118)), None).serial == 110
    assert agreed_mark(READ, likest(118, near, CONFIRMS.likeness - BELOW), None).serial is None
    assert agreed_mark(READ, likest(118, replace(near, lead=CONFIRMS.lead)), None).serial is None
    assert agreed_mark(READ, likest(118, replace(near, odds=CONFIRMS.odds)), None).serial is None
    assert agreed_mark(READ, likest(118, replace(near, turned=True)), None).serial is None
    assert agreed_mark(READ, likest(118, replace(near, serial=111)), None).serial is None
    assert agreed_mark(UNREAD, likest(118, near), None).serial is None


def test_a_picture_at_the_threshold_gives_just_enough_confidence() -> None:
    at_bar = own(110, DECIDES.likeness, DECIDES.lead, DECIDES.odds)
    assert agreed_mark(UNREAD, at_bar, None).confidence == pytest.approx(0.95)
    assert agreed_mark(UNREAD, own(110, 1.0), None).confidence > 0.95


def test_a_picture_gives_the_set_name_of_the_backs() -> None:
    assert agreed_mark(NO_MARK, own(), "C").set_text == "C"


def test_a_number_that_is_another_upside_down_stays_undecided() -> None:
    twin = Rival(90, turned=True, lead=0.1, odds=0.05)
    mark = agreed_mark(UNREAD, own(60, others=(twin,)), None)
    assert (mark.serial, mark.either, mark.turned) == (None, (60, 90), None)
    upside_down = own(60, turned=True, others=(replace(twin, turned=False),))
    assert agreed_mark(UNREAD, upside_down, None).either == (90, 60)


@pytest.mark.parametrize(
    ("lead", "odds", "told"), [(0.5, 2.0, True), (0.5 - BELOW, 2.0, False), (0.5, 2.0 - BELOW, False)]
)
def test_wear_and_noise_do_not_distinguish_66_from_99(lead: float, odds: float, *, told: bool) -> None:
    """In a font whose 9 is a 6 upside down, 99 was read as 66, with a lead of 0.6 and odds of 0.77."""
    twin = Rival(99, turned=True, lead=lead, odds=odds)
    mark = agreed_mark(UNREAD, own(66, others=(twin,)), None)
    assert (mark.serial, mark.either) == ((66, None) if told else (None, (66, 99)))


def test_a_bar_in_the_pictures_shows_the_way_up() -> None:
    twin = Rival(90, turned=True, lead=0.9, odds=3.0)
    assert agreed_mark(UNREAD, own(60, others=(twin,)), None).serial == 60


def test_a_reader_that_leaves_two_serials_open_is_confirmed_in_both() -> None:
    either = replace(READ, serial=None, either=(60, 90), turned=None)
    twin = Rival(90, turned=True, lead=0.0, odds=0.0)
    assert agreed_mark(either, own(60, others=(twin,)), None).either == (60, 90)
    behind = replace(twin, lead=0.9, odds=2.0)
    assert agreed_mark(either, own(61, others=(behind,)), None).either is None


def test_a_similar_serial_the_same_way_up_is_never_left_open() -> None:
    alike = Rival(90, turned=False, lead=0.1, odds=0.05)
    mark = agreed_mark(UNREAD, own(60, others=(alike,)), None)
    assert (mark.serial, mark.either) == (None, None)


def test_a_picture_that_is_the_same_upside_down_gives_no_way_up() -> None:
    itself = Rival(88, turned=True, lead=0.0, odds=0.0)
    mark = agreed_mark(UNREAD, own(88, others=(itself,)), None)
    assert (mark.serial, mark.turned) == (88, None)


def test_a_number_that_is_the_same_upside_down_is_confirmed_either_way_up() -> None:
    itself = Rival(101, turned=True, lead=TURNS.lead - BELOW, odds=2.0)
    mark = agreed_mark(replace(READ, serial=101, turned=True), own(101, others=(itself,)), None)
    assert mark.serial == 101


def test_reader_and_picture_disagree_if_their_ways_up_differ() -> None:
    assert agreed_mark(READ, own(turned=True), None).serial is None
