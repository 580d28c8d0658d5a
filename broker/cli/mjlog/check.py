"""`homologue riichi check`: counts the wins in mjlog records again, and settles their hands again."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

import click

from broker.cli.mjlog.hands import PLAYER_COUNT, MjlogHand, MjlogWin, mjlog_hands, wins_of
from broker.cli.mjlog.notation import ANY, LONGEST, MjlogTag, game_kind, profile_as_played, tags_of
from broker.cli.rules_input import load_riichi_rules
from broker.console import EXISTING_FILE, amount, json_lines, say
from broker.rules import RuleError
from broker.rules.riichi import RiichiPayments, RiichiProfile, SessionEnd, SessionState, riichi_payments, settle_event
from broker.rules.riichi.value import RiichiHandValue, riichi_value

RULES: Final = "riichi-tenhou"


@click.command("check", short_help="Check Tenhou records.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=EXISTING_FILE)
@click.option("--rules", default=RULES, show_default=True, help="Rule profile to count by.")
@json_lines
def riichi_check(files: tuple[Path, ...], rules: str) -> None:
    """Count and settle Tenhou records (mjlog: XML, also gzipped) again, and report differences.

    This compares the value and payments of each win, and after each hand the payments, next dealer, counters, deposits
    and the end of the session. Red fives, open tanyao and the number of rounds are taken from each record. The exit
    code is 1 if anything differs or cannot be read.

    \b
    homologue riichi check game.mjlog another.mjlog.gz
    """
    profile = load_riichi_rules(rules)
    wins, hands, unread = CheckTally("win"), CheckTally("hand"), 0
    for file in files:
        try:
            record = check_mjlog(_content(file), profile)
        except RuleError as problem:
            say(
                f"{file.name}: {problem.code}: {problem.text}",
                file=file.name,
                code=problem.code,
                message=str(problem.text),
            )
            unread += 1
            continue
        wins.count(file, record.wins)
        hands.count(file, record.hands)
    text = f"{wins.agree} of {wins.all} wins and {hands.agree} of {hands.all} hands agree with the records"
    say(
        text + (f"; {amount(unread, 'file')} not read" if unread else ""),
        wins={"agree": wins.agree, "all": wins.all},
        hands={"agree": hands.agree, "all": hands.all},
        unread=unread,
    )
    sys.exit(0 if (wins.agree, hands.agree, unread) == (wins.all, hands.all, 0) else 1)


@dataclass(frozen=True, slots=True)
class Checked:
    """A win or a hand of a record: its number, from 1, and each difference between the record and our result."""

    number: int
    differences: tuple[str, ...]


@dataclass
class CheckTally:
    """Counts wins, or hands, and how many of them agree with the record. Differences are reported as they are found."""

    what: str
    all: int = 0
    agree: int = 0

    def count(self, file: Path, found: Iterable[Checked]) -> None:
        """Count the wins, or hands, of a file, and report their differences."""
        for one in found:
            self.all += 1
            self.agree += not one.differences
            for difference in one.differences:
                say(
                    f"{file.name}: {self.what} {one.number}: {difference}",
                    file=file.name,
                    what=self.what,
                    number=one.number,
                    difference=difference,
                )


def _content(file: Path) -> bytes:
    """Read a file, at most one byte more than is allowed. Raises RuleError `not_a_record`."""
    try:
        with file.open("rb") as source:
            return source.read(LONGEST + 1)
    except (OSError, ValueError) as error:  # ValueError: not a possible file name
        raise RuleError("not_a_record", f"cannot be read: {error}") from None


@dataclass(frozen=True, slots=True)
class MjlogRecord:
    """All wins and all hands of a record, in order."""

    wins: tuple[Checked, ...]
    hands: tuple[Checked, ...]


def check_mjlog(content: bytes, profile: RiichiProfile) -> MjlogRecord:
    """Check a record's file. Raises RuleError `not_a_record`, `record_too_large` or `bad_record`."""
    tags = tags_of(content)
    return MjlogRecord(tuple(checked_wins(tags, profile)), tuple(checked_hands(tags, profile)))


def checked_wins(tags: Sequence[MjlogTag], profile: RiichiProfile) -> Iterator[Checked]:
    """Check each win of a record. Raises RuleError `bad_record`."""
    for number, (game, win) in enumerate(wins_of(tags), 1):
        if isinstance(win, RuleError):
            yield Checked(number, (f"{win.code}: {win.text}",))
            continue
        yield Checked(number, tuple(_win_differences(win, profile_as_played(profile, game.kind))))


def _win_differences(win: MjlogWin, profile: RiichiProfile) -> Iterator[str]:
    try:
        found = riichi_value(win.hand, win.situation, profile)
    except RuleError as problem:
        yield f"{problem.code}: {problem.text}"
        return
    yaku = {one.id: one.han for one in found.yaku}
    if yaku != win.yaku:
        yield f"yaku {_listed(yaku)}, in the record {_listed(win.yaku)}"
    fu = found.fu.rounded if found.fu else None
    if fu is not None and not found.yakuman and fu != win.fu:
        yield f"{fu} fu, in the record {win.fu}"
    yield from _payment_differences(win, found, profile)


def _payment_differences(win: MjlogWin, found: RiichiHandValue, profile: RiichiProfile) -> Iterator[str]:
    bare = riichi_payments(found.win(win.situation), profile.points)
    if bare.winner_gain != win.points:
        yield f"{bare.winner_gain} points, in the record {win.points}"
    whole = riichi_payments(found.win(win.situation, win.honba, win.deposits), profile.points)
    ours = deltas(whole, win)
    if win.paid is not None and ours != win.paid:
        yield f"payments {ours}, in the record {win.paid}"


def deltas(paid: RiichiPayments, win: MjlogWin) -> tuple[int, ...]:
    """Return what each player wins or loses, in the order of their numbers."""
    return tuple(_delta(paid, win, player) for player in range(PLAYER_COUNT))


def _delta(paid: RiichiPayments, win: MjlogWin, player: int) -> int:
    if player == win.winner:
        return paid.winner_gain
    if win.discarder is not None:
        return -(paid.discarder_pays or 0) if player == win.discarder else 0
    if paid.each_other_pays is not None:
        return -paid.each_other_pays
    return -((paid.dealer_pays if player == win.dealer else paid.each_non_dealer_pays) or 0)


def _listed(yaku: Mapping[str, int]) -> str:
    return ", ".join(f"{one} {han}" for one, han in yaku.items())


def checked_hands(tags: Sequence[MjlogTag], profile: RiichiProfile) -> Iterator[Checked]:
    """Settle each hand of a record again. Raises RuleError `bad_record` for a game of three."""
    rules = profile_as_played(profile, next((game_kind(tag) for tag in tags if tag.name == "GO"), ANY))
    for count, (hand, following) in enumerate(pairwise([*mjlog_hands(tags), None]), 1):
        after = following.before if isinstance(following, MjlogHand) else None
        yield Checked(count, _hand_checked(hand, after, rules))


def _hand_checked(
    hand: MjlogHand | RuleError | None, after: SessionState | None, rules: RiichiProfile
) -> tuple[str, ...]:
    try:
        return tuple(_differences(hand, after, rules)) if isinstance(hand, MjlogHand) else (_refused(hand),)
    except RuleError as problem:
        return (_refused(problem),)


def _refused(problem: RuleError | None) -> str:
    return f"{problem.code}: {problem.text}" if problem else ""


def _differences(hand: MjlogHand, after: SessionState | None, rules: RiichiProfile) -> Iterator[str]:
    """Return the differences of a hand. Raises RuleError if it cannot be read or is impossible."""
    settled = settle_event(hand.before, hand.event(), rules)
    if settled.deltas != hand.paid():
        yield f"pays {settled.deltas}, in the record {hand.paid()}"
    counters, deposits = hand.before.counters, hand.before.deposits + len(hand.riichi)
    if (stated := hand.counters_and_deposits()) != (counters, deposits):
        yield f"{counters} counters and {deposits} deposits, in the record {stated[0]} and {stated[1]}"
    yield from _continued(hand, settled.state, after, rules)


def _continued(hand: MjlogHand, state: SessionState, after: SessionState | None, rules: RiichiProfile) -> Iterator[str]:
    final = hand.final()
    if (after is not None and after != state) or (final is not None and not state.over):
        yield f"continues with {_named(state)}, in the record with {_named(after)}"
    if final is not None:
        ended = settle_event(state, SessionEnd(), rules).state.scores
        if ended != final:
            yield f"ends with {ended}, in the record with {final}"


def _named(state: SessionState | None) -> str:
    """Describe a hand as players do, such as `S4`, with its counters, deposits and scores."""
    if state is None or state.over:
        return "the end"
    deal = f"{state.round_wind}{state.dealer + 1}"
    return f"{deal}, {state.counters} counters, {state.deposits} deposits, {state.scores}"
