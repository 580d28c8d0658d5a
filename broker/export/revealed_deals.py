"""The public file after the event: faces and salts; and whether they are what was committed to."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from broker.event import EVENT, DealRecord, read_deals
from broker.event.deals import COMMITMENT, deal_and_salt, read_commitment, refuse_other_event
from broker.event.file_io import collect_errors, raise_errors, read_json
from broker.protocol import DealNo, EventName, Hash, Seat, Wind
from broker.rules import Deal, RuleError
from broker.rules.commitment import Commitment
from broker.scorer.stored_event import open_stored_event
from broker.store import has_started


class RevealedDeal(Struct, frozen=True, forbid_unknown_fields=True):
    """One deal with the salt that its hash was made with."""

    number: DealNo
    prevalent_wind: Wind
    dealer: Seat
    faces: dict[Seat, tuple[str, ...]]
    salt: Hash


class RevealedDeals(Struct, frozen=True, forbid_unknown_fields=True):
    """What `homologue deal reveal` writes: for everybody, once the deals in it are played everywhere."""

    schema: Literal[1]
    event: EventName
    deals: tuple[RevealedDeal, ...]


class DealVerdict(NamedTuple):
    """What is said of one revealed deal; no refusal: it is what was committed to."""

    deal: int
    refusal: RuleError | None


def select_deals(folder: Path, numbers: Collection[int]) -> list[DealRecord]:
    """Return the deals of these numbers, or all. Raises RuleErrors `deal_unknown`, BadEvent."""
    deals = {deal.number: deal for deal in read_deals(folder)}
    raise_errors(RuleError("deal_unknown", f"there is no deal {n}") for n in sorted(set(numbers) - set(deals)))
    return [deals[number] for number in sorted(numbers or deals)]


def reveal_deals(folder: Path, numbers: Collection[int], *, early: bool = False) -> bytes:
    """Return the public file of some deals, or of all; of those that are still to be played only `early`.

    Raises RuleError, or an ExceptionGroup of them, where a deal is not what was committed to; BadEvent, OSError.
    """
    commitment = read_commitment(folder / COMMITMENT)
    refuse_other_event(folder)
    records = select_deals(folder, set(numbers))
    if not early:
        _refuse_unplayed(folder, [record.number for record in records])
    deals = collect_errors(lambda record: _revealed(record, commitment), records)
    return msgspec.json.encode(RevealedDeals(1, commitment.event, tuple(deals))) + b"\n"


def _refuse_unplayed(folder: Path, numbers: Sequence[int]) -> None:
    """Refuse deals that a table has still to play. A folder without an event's plan is asked nothing."""
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
    deal, salt = deal_and_salt(record)
    commitment.check(commitment.event, deal, salt)
    return RevealedDeal(deal.number, deal.prevalent_wind, deal.dealer, dict(deal.faces), salt)


def verify_deals(path: Path, commitment: Commitment) -> list[DealVerdict]:
    """Say of each revealed deal whether it is what was committed to. Raises RuleError `malformed`, `too_large`."""
    revealed = read_json(path, RevealedDeals)
    counted = Counter(deal.number for deal in revealed.deals)
    return [
        DealVerdict(deal.number, _refusal(deal, counted[deal.number], revealed.event, commitment))
        for deal in revealed.deals
    ]


def _refusal(revealed: RevealedDeal, times: int, event: str, commitment: Commitment) -> RuleError | None:
    try:
        if times > 1:
            raise RuleError("deal_twice", f"deal {revealed.number} is revealed {times} times")
        deal = Deal(revealed.number, revealed.prevalent_wind, revealed.dealer, revealed.faces)
        commitment.check(event, deal, revealed.salt)
    except RuleError as refusal:
        return refusal
    return None
