"""The accepted notation, refusals, and round trips of whole plays."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.export.pmn.check import declared_judge, judge_record
from broker.export.pmn.notation import LONGEST_LINE, MOST_LINES, REQUIRED, write_record, write_records
from broker.export.pmn.record import OUR_TILE, TOKEN, PmnRecord, RecordError, by_wind, write_play
from broker.protocol import SEATS
from broker.rules.mcr import PlayState
from broker.rules.mcr.referee import SeatTiles
from tests.broker.export.pmn.plays import example, examples, of, one, played, refused

GOOD: Final = examples()[1]

LINE: Final = {name: number for number, name in enumerate(REQUIRED, 1)}


@pytest.mark.parametrize(
    "text",
    [
        example().replace("\n", "\r\n"),
        "\ufeff" + example(),
        "\n\n  \n" + example() + "\n\n",
        example().replace("[", "  [ ").replace(' "', '\t  "').replace('"]', '"   ]'),
        example().replace(' "', '\n"'),
        example().replace("]\n", "] "),
        "\n".join(sorted(example().splitlines(), reverse=True)),
        "% PMN\n; a comment\n" + example(),
        example('[Site "', '   % [East "nobody"]\n[Site "'),
        example("D0d3H1H3", " D0d3 H1 H3 "),
        example("D0d3H1H3", "D0d3H1d3H3d3"),
        example("-32 36 -8 36", " -32  +36 -8   36 "),
    ],
    ids=[
        "windows",
        "mark",
        "blanks",
        "tabs",
        "values below",
        "one line",
        "order",
        "comments",
        "comment inside",
        "play",
        "tile",
        "plus",
    ],
)
def test_blanks_order_and_comments_do_not_matter(text: str) -> None:
    assert one(text) == GOOD


@pytest.mark.parametrize(
    ("change", "to", "code", "tag"),
    [
        ('"2022.06.25"', '"2022.06.31"', "bad_tag", "Date"),
        ('"2022.06.25"', '"25.6.2022"', "bad_tag", "Date"),
        ('[Board "1"]', '[Board "0"]', "bad_tag", "Board"),
        ('[Board "1"]', '[Board "one"]', "bad_tag", "Board"),
        ('[Board "1"]', '[Board "99999"]', "bad_tag", "Board"),
        ('[PWind "E"]', '[PWind "Q"]', "bad_tag", "PWind"),
        ('"Duplicate MCR"]\n[St', '"MCR"]\n[St', "not_duplicate", "Scoring"),
        ('[Starting "0 0 0 0"]', '[Starting "0 0 0 8"]', "bad_tag", "Starting"),
        ("-32 36 -8 36", "-32 36 -8", "bad_tag", "Result"),
        ("-32 36 -8 36", "-32 36 -8 3.5", "bad_tag", "Result"),
        ("-32 36 -8 36", "-32 36 -8 ３６", "bad_tag", "Result"),
        ("-32 36 -8 36", "-32 36 -8 99999", "bad_tag", "Result"),
        ('[Deal "c7', '[Deal "c77', "bad_tag", "Deal"),
        ('[Deal "c7', '[Deal "c0', "unknown_pmn_tile", "Deal"),
        ('[Deal "c7', '[Deal "7', "unknown_pmn_tile", "Deal"),
        ("w2r1f ", "w2f1 ", "unknown_pmn_tile", "Deal"),
        ("w2r1f ", "w5r1f ", "unknown_pmn_tile", "Deal"),
        ("39/8/1", "83/8/1", "bad_tag", "Fan"),
        ("39/8/1", "39", "bad_tag", "Fan"),
        ("39/8/1", "0/1", "bad_tag", "Fan"),
        ("39/8/1.62/2/1.76/1/1.77/1/1", "39/8/0", "bad_tag", "Fan"),
        ("39/8/1", "39/999/9", "bad_tag", "Fan"),
        ('[Fan "None ', '[Fan "', "bad_tag", "Fan"),
    ],
)
def test_an_invalid_value_is_refused_with_its_line(change: str, to: str, code: str, tag: str) -> None:
    assert refused(example(change, to)) == (code, LINE[tag], None)


@pytest.mark.parametrize(
    ("change", "to", "code", "step"),
    [
        ("T0r2", "X0r2", "bad_play", 1),
        ("T0r2D0r1", "T0r2D0", "bad_play", 2),
        ("T0r2D0r1", "T0r2R0f1D0r1", "bad_play", 2),
        ("T0r2D0r1", "T4r2D0r1", "bad_play", 1),
        ("T0r2D0r1", "T0r2D0r4", "unknown_pmn_tile", 2),
        ("T0r2D0r1", "T0r2D1z1", "bad_play", 2),
        ("T0r2D0r1", "D0z1T0r2", "bad_play", 1),
        ("D0d3H1H3", "D0d3H1d4H3", "bad_play", 91),
        ("D0d3H1H3", "D0d3H1H", "bad_play", 92),
    ],
)
def test_an_unreadable_step_is_refused_with_its_number(change: str, to: str, code: str, step: int) -> None:
    assert refused(example(change, to)) == (code, LINE["Play"], step)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (example('[Site "', '[Sight "'), "unknown_tag", 2),
        (example('[Site "', '[Event "'), "duplicate_tag", 2),
        (example() + example(), "duplicate_tag", 17),
        (example('[Site "https://mahjongsoft.com/mcrm_replay.php?session=74621&game=1&table=3"]\n'), "missing_tag", 1),
        (example('[Board "1"]', '[Board "1"'), "truncated_line", 4),
        (example('[Board "1"]', '[Board "1'), "truncated_line", 4),
        (example('[Board "1"]', "[Boa"), "truncated_line", 4),
        (example('[Board "1"]', '[Board \\"1"]'), "bad_notation", 4),
        (example('[Board "1"]', "Board: 1"), "bad_notation", 4),
        (example('[East "A"]', '[East "A\\n"]'), "bad_notation", 6),
        ("hello", "bad_notation", 1),
    ],
)
def test_text_that_is_not_tags_is_refused_with_its_line(text: str, code: str, line: int) -> None:
    assert refused(text) == (code, line, None)


@pytest.mark.parametrize(
    ("said", "code", "line"),
    [
        (example('[East "A"]', '[East "É"]').encode("latin-1"), "record_not_utf8", 6),
        (example().encode("utf-16"), "record_not_utf8", 1),
        (example('[East "A"]', '[East "A\0"]').encode(), "record_not_utf8", 6),
        (example('[East "A"]', f'[East "{"A" * LONGEST_LINE}"]').encode(), "too_large", 6),
        (("% line\n" * MOST_LINES + example()).encode(), "too_large", 1),
    ],
)
def test_wrong_encodings_and_sizes_are_refused(said: bytes, code: str, line: int) -> None:
    assert refused(said) == (code, line, None)


def test_a_bad_record_does_not_affect_the_next() -> None:
    bad = b'[Event "\xff"]\n' + b"x" * 3 * LONGEST_LINE + b"\n[\n"
    found = of(
        bad + b"\n" + example().encode() + b"\n" + example("T0r2", "").encode()[:50] + b"\n\n" + example().encode()
    )
    assert [isinstance(one_, PmnRecord) for one_ in found] == [False, True, False, True]


def test_quotes_and_backslashes_in_names_are_escaped() -> None:
    assert one(example('[East "A"]', r'[East "A \"Tiger\" \\o/"]')).players["east"] == r'A "Tiger" \o/'


def test_a_fine_may_be_written_without_its_sign() -> None:
    for written in ("0 -4 0 8", "0 4 0 -8"):
        assert one(example('[Penalty "0 0 0 0"]', f'[Penalty "{written}"]')).fines == {"south": 4, "north": 8}


def test_unknown_values_are_question_marks() -> None:
    text = example('"2022.06.25"', '"2022.??.??"').replace('[East "A"]', '[East ""]')
    assert (one(text).date, one(text).players["east"]) == ("2022.??.??", "?")


SEED: Final = st.integers(1, 60)
LETTERS: Final = st.sampled_from("TDCPZAB")
TOKENS: Final = st.builds(
    "{}{}{}".format, LETTERS, st.integers(0, 3), st.sampled_from([*OUR_TILE, "z1"])
) | st.sampled_from([f"{letter}{seat}" for letter in "HN" for seat in range(4)])


def lying(play: PlayState) -> dict[str, object]:
    """Return the tiles of each seat by seat wind, with sorted hands."""
    hands = dict(zip(SEATS, play.hands, strict=True))
    return {wind: told(hand) for wind, hand in by_wind(hands, play.deal.dealer).items()}


def told(hand: SeatTiles) -> tuple[object, ...]:
    return sorted(hand.concealed), [(meld.kind, meld.tiles, meld.claimed) for meld in hand.melds], hand.river


@given(SEED, st.booleans())
def test_a_play_survives_its_record(seed: int, with_walls: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    play, record = played(seed)
    record = record if with_walls else replace(record, walls=None)
    again = one(write_record(record))
    assert again == record
    assert write_record(again) == write_record(record)
    replayed = judge_record(again, declared_judge)
    assert replayed is not None
    assert lying(replayed) == lying(play)
    assert (replayed.turns.over, replayed.turns.ltw) == (play.turns.over, play.turns.ltw)
    assert record.winners == by_wind({win.hu.seat: win.hand_value for win in play.wins}, play.deal.dealer)


@given(SEED, SEED)
def test_records_in_one_file_are_read_as_they_were_written(one_seed: int, other: int) -> None:
    records = [played(one_seed)[1], played(other)[1]]
    assert of(write_records(records)) == records


@given(SEED, st.integers(0, 10_000), TOKENS, st.booleans())
def test_a_changed_step_is_refused_there_or_later_or_gives_another_legal_play(
    seed: int,
    at: int,
    token: str,
    with_walls: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    _, record = played(seed)
    text = write_record(record if with_walls else replace(record, walls=None))
    before, _, rest = text.partition('[Play "')
    written, quote, after = rest.partition('"')
    tokens = TOKEN.findall(written)
    changed = at % len(tokens)
    tokens[changed] = token
    (found,) = of(f'{before}[Play "{"".join(tokens)}{quote}{after}')
    passed, step = judged_to(found)
    if passed:
        assert isinstance(found, PmnRecord)
        assert (found == before_change(found, record)) == (write_play(found.steps or ()) == written)
    else:
        assert step is None or step > changed


def judged_to(found: PmnRecord | RecordError) -> tuple[bool, int | None]:
    """Return whether a record passes and, if not, the step that was refused."""
    if isinstance(found, RecordError):
        return False, found.step
    try:
        return judge_record(found, declared_judge) is not None, None
    except RecordError as problem:
        return False, problem.step


def before_change(found: PmnRecord, record: PmnRecord) -> PmnRecord:
    """Return the original record with the walls of the one found."""
    return replace(record, walls=found.walls)


@given(SEED, st.floats(0, 1))
def test_a_truncated_record_is_refused_or_lacks_only_our_own_tags(seed: int, part: float) -> None:
    _, record = played(seed)
    whole = write_record(record).encode()
    for found in of(whole[: int(part * len(whole))]):
        if isinstance(found, PmnRecord):
            kept = replace(found, walls=record.walls, dealer=record.dealer, profile=record.profile)
            assert kept == record


@given(st.binary(max_size=300) | st.text('[]"\\ \nEventPlayT0c1?', max_size=300).map(str.encode))
def test_garbage_is_refused_with_a_code(rubbish: bytes) -> None:
    assert [found for found in of(rubbish) if not isinstance(found, RecordError)] == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), SEED)
def test_any_name_fits_on_one_line_and_survives_a_round_trip(name: str, seed: int) -> None:
    record = replace(played(seed)[1], players=dict.fromkeys(SEATS, name), event=name)
    again = one(write_record(record))
    assert write_record(again) == write_record(record)
    shown = again.players["east"]
    assert shown == name or any(character.isspace() or not character.isprintable() for character in name) or not name
