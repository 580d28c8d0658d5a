"""The public file after the event (faces, salts and the words of a draw), and its verification against the commitment.

A folder is verified in the same way: whatever is sealed in it is opened, and shown to nobody.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from broker.errors import collect_errors, raise_errors
from broker.event import DEALS, EVENT, DealRecord, read_deals, read_json
from broker.event.deals import (
    COMMITMENT,
    DRAWS,
    Opener,
    deal_and_salt,
    draw_of_deals,
    read_commitment,
    read_drawn_words,
    refuse_other_event,
)
from broker.i18n import N_
from broker.protocol import DealNo, EventName, Hash, Seat, Wind
from broker.rules import Deal, RuleError
from broker.rules.commitment import Announcement, Commitment, DrawName, DrawnWords, commit_deals, drawn_deals
from broker.scorer import open_stored_event
from broker.store import has_started


class RevealedDeal(Struct, frozen=True, forbid_unknown_fields=True):
    """One deal, and the salt of its hash."""

    number: DealNo
    prevalent_wind: Wind
    dealer: Seat
    faces: dict[Seat, tuple[str, ...]]
    salt: Hash


class RevealedDraw(Struct, frozen=True, forbid_unknown_fields=True):
    """The origin of drawn deals, revealed once all of them have been played everywhere."""

    announcement: Announcement
    words: DrawnWords


class RevealedDeals(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The output of `homologue deal reveal`, public once its deals have been played everywhere."""

    schema: Literal[1]
    event: EventName
    deals: tuple[RevealedDeal, ...]
    draw: RevealedDraw | None = None


REVEALED: Final = "revealed.json"
"""Name of the file in a folder with the commitment."""


class DealVerdict(NamedTuple):
    """The verdict on one revealed deal. Without a refusal, it is the one that was committed to."""

    deal: int
    refusal: RuleError | None


class DrawVerdict(NamedTuple):
    """The verdict on the draw named in a commitment. Without a refusal, the deals come from the words and nothing else.

    `words` is None if they are not revealed.
    """

    draw: int
    words: RevealedDraw | None
    refusal: RuleError | None


class Verdicts(NamedTuple):
    """The verdict on revealed deals; `draw` is None if they were not drawn."""

    commitment: Commitment
    deals: list[DealVerdict]
    draw: DrawVerdict | None


def select_deals(folder: Path, numbers: Collection[int]) -> list[DealRecord]:
    """Return the deals with these numbers, or all. Raises RuleErrors `deal_unknown`, BadEvent."""
    deals = {deal.number: deal for deal in read_deals(folder)}
    raise_errors(RuleError("deal_unknown", f"there is no deal {n}") for n in sorted(set(numbers) - set(deals)))
    return [deals[number] for number in sorted(numbers or deals)]


def reveal_deals(folder: Path, numbers: Collection[int], *, early: bool = False) -> bytes:
    """Return the public file of some deals, or of all; deals that are still to be played only if `early`.

    Raises RuleError, or an ExceptionGroup of them, if a deal is not the one that was committed to; BadEvent, OSError.
    """
    commitment = read_commitment(folder / COMMITMENT)
    refuse_other_event(folder)
    records = select_deals(folder, set(numbers))
    if not early:
        refuse_unplayed(folder, [record.number for record in records])
    opener = Opener(folder)
    deals = collect_errors(lambda record: _revealed(opener.deal(record), commitment), records)
    draw = _revealed_draw(folder, {record.number for record in records})
    return msgspec.json.encode(RevealedDeals(1, commitment.event, tuple(deals), draw)) + b"\n"


def _revealed_draw(folder: Path, numbers: Collection[int]) -> RevealedDraw | None:
    """Return the origin of the deals if all of them are revealed; it would reveal the others."""
    draw = draw_of_deals(folder)
    if draw is None or not set(range(1, draw.announcement.deals + 1)) <= set(numbers):
        return None
    words = read_drawn_words(folder, draw)
    return RevealedDraw(draw.announcement, words) if words else None


def refuse_unplayed(folder: Path, numbers: Sequence[int]) -> None:
    """Refuse deals that a table has still to play. A folder without an event's plan is not checked."""
    if not (folder / EVENT).exists():
        return
    if not has_started(folder):
        raise RuleError("deal_not_played", "nothing has been recorded in this event yet")
    stored = open_stored_event(folder)
    raise_errors(
        RuleError("deal_not_played", f"deal {number}: a table has it still to play")
        for number in numbers
        if stored.embargoed(number)
    )


def _revealed(record: DealRecord, commitment: Commitment) -> RevealedDeal:
    commitment.check(commitment.event, *deal_and_salt(record))
    return _as_revealed(record)


def _as_revealed(record: DealRecord) -> RevealedDeal:
    deal, salt = deal_and_salt(record)
    return RevealedDeal(deal.number, deal.prevalent_wind, deal.dealer, dict(deal.faces), salt)


def verify_file(path: Path, commitment: Commitment) -> Verdicts:
    """Check each revealed deal against the commitment. Raises RuleError `malformed`, `too_large`."""
    return _verdicts(read_json(path, RevealedDeals), commitment)


def verify_folder(folder: Path) -> Verdicts:
    """Check an event's folder, or one that contains only its published files.

    Raises RuleError as `verify_file`, and if the list of draws was altered or there is nothing to verify.
    """
    commitment = read_commitment(folder / COMMITMENT)
    if not (folder / DEALS).exists():
        return _with_list_verdict(folder, verify_file(folder / REVEALED, commitment))
    opener, revealed, altered = Opener(folder), list[RevealedDeal](), list[DealVerdict]()
    for record in read_deals(folder):
        try:
            revealed.append(_as_revealed(opener.deal(record)))
        except RuleError as refusal:
            if refusal.code == "deals_key_missing":
                raise
            altered.append(DealVerdict(record.number, refusal))
    draw = _revealed_draw(folder, commitment.hashes.keys())
    verdicts = _verdicts(RevealedDeals(1, commitment.event, tuple(revealed), draw), commitment)
    missing = commitment.hashes.keys() - {one.deal for one in (*verdicts.deals, *altered)}
    altered += [
        DealVerdict(
            number, RuleError("deal_missing", N_("deal {deal} is in the commitment, but missing here", deal=number))
        )
        for number in missing
    ]
    deals = sorted([*verdicts.deals, *altered], key=lambda one: one.deal)
    return _with_list_verdict(folder, verdicts._replace(deals=deals))


def _with_list_verdict(folder: Path, verdicts: Verdicts) -> Verdicts:
    """Add the verdict on the list of draws, if it exists."""
    if verdicts.draw is None or verdicts.draw.refusal or not (folder / DRAWS).exists():
        return verdicts
    return verdicts._replace(draw=verdicts.draw._replace(refusal=_refusal(lambda: draw_of_deals(folder))))


def _verdicts(revealed: RevealedDeals, commitment: Commitment) -> Verdicts:
    counted = Counter(deal.number for deal in revealed.deals)
    deals = [
        DealVerdict(deal.number, _refusal(lambda: _check_deal(deal, counted, revealed.event, commitment)))  # noqa: B023 - runs at once
        for deal in revealed.deals
    ]
    return Verdicts(commitment, deals, _draw_verdict(revealed, commitment))


def _draw_verdict(revealed: RevealedDeals, commitment: Commitment) -> DrawVerdict | None:
    named, draw = commitment.draw, revealed.draw
    if named is None:
        return None
    if draw is not None:
        return DrawVerdict(named.number, draw, _refusal(lambda: _check_draw(draw, commitment)))
    complete = commitment.hashes.keys() <= {one.number for one in revealed.deals}
    refusal = RuleError(
        "draw_not_shown",
        N_("all deals are revealed, but not the words of the draw: there is NO proof that the deals were drawn"),
    )
    return DrawVerdict(named.number, None, refusal if complete else None)


def _check_draw(draw: RevealedDraw, commitment: Commitment) -> None:
    """Raise RuleError `draw_differs`, `words_differ`, `deal_not_drawn` unless the deals come from the words alone.

    All deals in the commitment are checked, not only those that are revealed.
    """
    if commitment.draw != DrawName(draw.announcement.number, draw.announcement.hash):
        raise RuleError("draw_differs", N_("this is not the draw that the commitment names"))
    drawn = commit_deals(draw.announcement.event, drawn_deals(draw.announcement, draw.words)).hashes
    for number in sorted(drawn.keys() | commitment.hashes.keys()):
        if drawn.get(number) != commitment.hashes.get(number):
            raise RuleError("deal_not_drawn", N_("deal {deal} does not come from the words of the draw", deal=number))


def _check_deal(revealed: RevealedDeal, times: Counter[int], event: str, commitment: Commitment) -> None:
    if times[revealed.number] > 1:
        raise RuleError("deal_twice", f"deal {revealed.number} is revealed {times[revealed.number]} times")
    deal = Deal(revealed.number, revealed.prevalent_wind, revealed.dealer, revealed.faces)
    commitment.check(event, deal, revealed.salt)


def _refusal(check: Callable[[], object]) -> RuleError | None:
    try:
        check()
    except RuleError as refusal:
        return refusal
    return None
