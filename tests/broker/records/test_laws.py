"""What holds for every play: records keep all of it, and no change to one passes for the play that it was."""

from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from broker.contract.words import SEATS
from broker.records.errors import RecordError
from broker.records.judges import declared
from broker.records.judging import judge
from broker.records.record import Record
from broker.records.steps import TOKEN, write_play
from broker.records.tiles import OURS
from broker.records.winds import by_wind
from broker.records.writing import write, write_one
from broker.rules.referee.hand import Hand
from broker.rules.referee.play import Play
from tests.broker.records.plays import of, one, played

SEED: Final = st.integers(1, 60)
LETTERS: Final = st.sampled_from("TDCPZAB")
TOKENS: Final = st.builds(
    "{}{}{}".format, LETTERS, st.integers(0, 3), st.sampled_from([*OURS, "z1"])
) | st.sampled_from([f"{letter}{seat}" for letter in "HN" for seat in range(4)])


def lying(play: Play) -> dict[str, object]:
    """Give what lies before each seat, named by its seat wind; the order in a hand means nothing."""
    hands = dict(zip(SEATS, play.hands, strict=True))
    return {wind: told(hand) for wind, hand in by_wind(hands, play.deal.dealer).items()}


def told(hand: Hand) -> tuple[object, ...]:
    return sorted(hand.concealed), [(meld.kind, meld.tiles, meld.claimed) for meld in hand.melds], hand.river


@given(SEED, st.booleans())
def test_a_play_survives_its_record(seed: int, with_walls: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    play, record = played(seed)
    record = record if with_walls else replace(record, walls=None)
    again = one(write_one(record))
    assert again == record
    assert write_one(again) == write_one(record)
    replayed = judge(again, declared)
    assert replayed is not None
    assert lying(replayed) == lying(play)
    assert (replayed.turns.over, replayed.turns.ltw) == (play.turns.over, play.turns.ltw)
    assert record.winners == by_wind({win.hu.seat: win.hand_value for win in play.wins}, play.deal.dealer)


@given(SEED, SEED)
def test_records_in_one_file_are_read_as_they_were_written(one_seed: int, other: int) -> None:
    records = [played(one_seed)[1], played(other)[1]]
    assert of(write(records)) == records


@given(SEED, st.integers(0, 10_000), TOKENS, st.booleans())
def test_a_changed_step_is_refused_there_or_later_or_is_another_legal_play(
    seed: int,
    at: int,
    token: str,
    with_walls: bool,  # noqa: FBT001 - drawn by hypothesis
) -> None:
    _, record = played(seed)
    text = write_one(record if with_walls else replace(record, walls=None))
    before, _, rest = text.partition('[Play "')
    written, quote, after = rest.partition('"')
    tokens = TOKEN.findall(written)
    changed = at % len(tokens)
    tokens[changed] = token
    (found,) = of(f'{before}[Play "{"".join(tokens)}{quote}{after}')
    passed, step = judged_to(found)
    if passed:
        assert isinstance(found, Record)
        assert (found == before_change(found, record)) == (write_play(found.steps or ()) == written)
    else:
        assert step is None or step > changed


def judged_to(found: Record | RecordError) -> tuple[bool, int | None]:
    """Say whether it passes, and if not, at which step it was refused."""
    if isinstance(found, RecordError):
        return False, found.step
    try:
        return judge(found, declared) is not None, None
    except RecordError as problem:
        return False, problem.step


def before_change(found: Record, record: Record) -> Record:
    """Give the record as it was, with those walls that were told."""
    return replace(record, walls=found.walls)


@given(SEED, st.floats(0, 1))
def test_a_record_that_is_cut_off_anywhere_is_refused_or_has_lost_only_tags_of_ours(seed: int, part: float) -> None:
    _, record = played(seed)
    whole = write_one(record).encode()
    for found in of(whole[: int(part * len(whole))]):
        if isinstance(found, Record):
            kept = replace(found, walls=record.walls, dealer=record.dealer, profile=record.profile)
            assert kept == record


@given(st.binary(max_size=300) | st.text('[]"\\ \nEventPlayT0c1?', max_size=300).map(str.encode))
def test_rubbish_is_refused_with_a_code(rubbish: bytes) -> None:
    assert [found for found in of(rubbish) if not isinstance(found, RecordError)] == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), SEED)
def test_any_name_stands_on_its_line_and_comes_back_as_it_stands(name: str, seed: int) -> None:
    record = replace(played(seed)[1], players=dict.fromkeys(SEATS, name), event=name)
    again = one(write_one(record))
    assert write_one(again) == write_one(record)
    shown = again.players["east"]
    assert shown == name or any(character.isspace() or not character.isprintable() for character in name) or not name
