"""The public file after the event: faces and salts; and whether they are what was committed to."""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from broker.contract.words import DealNo, EventName, Hash, Seat, Wind
from broker.organiser.deals.committed import COMMITMENT, read_commitment, refuse_other_event, secret_of
from broker.organiser.deals.files import every, read_json, refuse
from broker.rules.commitment import Commitment
from broker.rules.deal import Deal
from broker.rules.errors import RuleError
from broker.scorer.event import EVENT
from broker.scorer.folder import DealRecord, read_deals
from broker.scorer.stored import open_stored
from broker.store.address import started


class RevealedDeal(Struct, frozen=True, forbid_unknown_fields=True):
    """One deal with the salt that its hash was made with."""

    number: DealNo
    prevalent_wind: Wind
    dealer: Seat
    faces: dict[Seat, tuple[str, ...]]
    salt: Hash


class Revealed(Struct, frozen=True, forbid_unknown_fields=True):
    """What `homologue deal reveal` writes: for everybody, once the deals in it are played everywhere."""

    schema: Literal[1]
    event: EventName
    deals: tuple[RevealedDeal, ...]


class Verdict(NamedTuple):
    """What is said of one revealed deal; no refusal: it is what was committed to."""

    deal: int
    refusal: RuleError | None


def chosen(folder: Path, numbers: Collection[int]) -> list[DealRecord]:
    """Give the deals of these numbers, or all. Raises RuleErrors `deal_unknown`, BadEvent."""
    deals = {deal.number: deal for deal in read_deals(folder)}
    refuse(RuleError("deal_unknown", f"there is no deal {n}") for n in sorted(set(numbers) - set(deals)))
    return [deals[number] for number in sorted(numbers or deals)]


def reveal(folder: Path, numbers: Collection[int], *, early: bool = False) -> bytes:
    """Give the public file of some deals, or of all; of those that are still to be played only `early`.

    Raises RuleError, or an ExceptionGroup of them, where a deal is not what was committed to; BadEvent, OSError.
    """
    commitment = read_commitment(folder / COMMITMENT)
    refuse_other_event(folder)
    records = chosen(folder, set(numbers))
    if not early:
        _refuse_unplayed(folder, [record.number for record in records])
    deals = every(lambda record: _revealed(record, commitment), records)
    return msgspec.json.encode(Revealed(1, commitment.event, tuple(deals))) + b"\n"


def _refuse_unplayed(folder: Path, numbers: Sequence[int]) -> None:
    """Refuse deals that a table has still to play. A folder without an event's plan is asked nothing."""
    if not (folder / EVENT).exists():
        return
    if not started(folder):
        raise RuleError("deal_not_played", "nothing has been recorded in this event yet")
    stored = open_stored(folder)
    refuse(
        RuleError("deal_not_played", f"deal {number}: a table has it still to play")
        for number in numbers
        if stored.embargoed(number)
    )


def _revealed(record: DealRecord, commitment: Commitment) -> RevealedDeal:
    deal, salt = secret_of(record)
    commitment.check(commitment.event, deal, salt)
    return RevealedDeal(deal.number, deal.prevalent_wind, deal.dealer, dict(deal.faces), salt)


def verify(path: Path, commitment: Commitment) -> list[Verdict]:
    """Say of each revealed deal whether it is what was committed to. Raises RuleError `malformed`, `too_large`."""
    revealed = read_json(path, Revealed)
    counted = Counter(deal.number for deal in revealed.deals)
    return [
        Verdict(deal.number, _refusal(deal, counted[deal.number], revealed.event, commitment))
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
