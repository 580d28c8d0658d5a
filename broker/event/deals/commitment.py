"""`commitment.json`: the hashes of the deals, published before the event."""

import secrets
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from broker.errors import BadEvent, RuleError
from broker.event.deals.sealing import Opener
from broker.event.file_io import publish_file, read_bytes, read_json
from broker.event.files import DealRecord, read_deals, write_deals
from broker.files import EVENT
from broker.i18n import N_
from broker.protocol import DealNo, EventName, Hash, Name
from broker.rules import Deal
from broker.rules.commitment import Commitment, DrawName, checked_name, commit_deals

COMMITMENT: Final = "commitment.json"
SALT_BYTES: Final = 32


class DealHash(Struct, frozen=True, forbid_unknown_fields=True):
    """One deal's hash."""

    deal: DealNo
    hash: Hash


class CommitmentFile(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """`commitment.json`: safe to publish."""

    schema: Literal[1]
    event: EventName
    root: Hash
    deals: tuple[DealHash, ...]
    draw: DrawName | None = None
    """The draw that the deals come from, if they were drawn."""


class EventHead(Struct, frozen=True):
    """The event's name and title in `event.toml`, which can be read before there is a movement."""

    name: EventName
    title: Name


def read_event_head(folder: Path) -> EventHead | None:
    """Read the event's name and title; None if there is no `event.toml`. Raises BadEvent."""
    try:
        return msgspec.toml.decode(read_bytes(folder / EVENT), type=EventHead)
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:  # ValueError covers msgspec and Unicode errors
        raise BadEvent(f"{EVENT}: {error}") from None


def resolve_event_name(folder: Path, given: str | None) -> str:
    """Return the event's name: `given`, or if that is None the name in the folder.

    Raises RuleError `event_not_said` if neither is known, `other_event` if they differ, `bad_event_name`; BadEvent.
    """
    head = read_event_head(folder)
    known = head.name if head else None
    if known is None and (folder / COMMITMENT).exists():
        known = read_commitment(folder / COMMITMENT).event
    if given is None and known is None:
        raise RuleError(
            "event_not_said", N_("{folder} does not say which event it belongs to: use --event NAME", folder=folder)
        )
    if given is not None and known is not None and given != known:
        raise RuleError(
            "other_event",
            N_("{folder} belongs to event {known}, not {other}", folder=folder, known=known, other=given[:40]),
        )
    return checked_name(given or known or "")


def refuse_other_event(folder: Path) -> None:
    """Raise RuleError `other_event` if `event.toml` and the commitment differ in name; BadEvent, OSError."""
    head = read_event_head(folder)
    if head is None or not (folder / COMMITMENT).exists():
        return
    committed = read_commitment(folder / COMMITMENT).event
    if head.name != committed:
        text = N_(
            "{file} belongs to event {name}, but {other} to {event}",
            file=EVENT,
            name=head.name,
            other=COMMITMENT,
            event=committed,
        )
        raise RuleError("other_event", text)


def refuse_altered_deals(folder: Path) -> None:
    """Raise BadEvent, naming each deal that differs from the commitment or is missing on either side.

    A folder without a commitment passes; `event check` reports that there is none.
    """
    if not (folder / COMMITMENT).exists():
        return
    try:
        committed, deals = read_commitment(folder / COMMITMENT), read_deals(folder)
    except RuleError as refusal:
        raise BadEvent(f"{COMMITMENT}: {refusal.text}", [refusal]) from None
    except OSError as failure:
        raise BadEvent(f"{COMMITMENT}: {failure.strerror}") from None
    opener = Opener(folder)
    try:
        found = [altered for record in deals if (altered := _alteration(committed, record, opener))]
    except RuleError as missing:
        raise BadEvent.of(missing) from None
    listed = {record.number for record in deals}
    found += [
        RuleError("deal_missing", N_("deal {deal} is in the commitment, but missing here", deal=number))
        for number in sorted(committed.hashes.keys() - listed)
    ]
    if found:
        raise BadEvent.of(*found)


def _alteration(committed: Commitment, record: DealRecord, opener: Opener) -> RuleError | None:
    """Return why a deal does not match the commitment; None if it does.

    Raises RuleError `deals_key_missing`, so that this is reported once and not for every deal.
    """
    try:
        committed.check(committed.event, *deal_and_salt(opener.deal(record)))
    except RuleError as refusal:
        if refusal.code == "deals_key_missing":
            raise
        return refusal
    return None


def deal_and_salt(record: DealRecord) -> tuple[Deal, str]:
    """Return a deal and its salt. Raises RuleError `not_committed`, `not_a_deal`."""
    if record.salt is None:
        raise RuleError("not_committed", N_("deal {deal} has no commitment", deal=record.number))
    return record.deal(), record.salt


def commit_folder(folder: Path, event: str) -> str:
    """Commit to the deals of a folder, adding missing salts; return the root.

    A commitment that already exists is never changed. Raises RuleError `file_exists` if it is of other deals,
    `not_a_deal`; BadEvent, OSError.
    """
    deals = read_deals(folder)
    if not (folder / COMMITMENT).exists():
        complete = tuple(
            deal if deal.sealed else replace(deal, salt=deal.salt or secrets.token_hex(SALT_BYTES)) for deal in deals
        )
        if complete != deals:
            write_deals(folder, complete)
        deals = complete
    return publish_commitment(folder, event, map(Opener(folder).deal, deals))


def publish_commitment(folder: Path, event: str, deals: Iterable[DealRecord], draw: DrawName | None = None) -> str:
    """Write `commitment.json`; return the root. Raises RuleError `file_exists`, `not_committed`, `deal_twice`."""
    salted = [deal_and_salt(deal) for deal in deals]
    _refuse_twice(deal.number for deal, _ in salted)
    made = commit_deals(event, salted, draw)
    listed = tuple(DealHash(number, made.hashes[number]) for number in sorted(made.hashes))
    content = msgspec.json.encode(CommitmentFile(1, event, made.root, listed, draw))
    publish_file(folder / COMMITMENT, msgspec.json.format(content, indent=2) + b"\n")
    return made.root


def read_commitment(path: Path) -> Commitment:
    """Read a commitment. Raises RuleError `malformed`, `too_large`, `deal_twice`, `root_differs`; OSError."""
    file = read_json(path, CommitmentFile)
    _refuse_twice(entry.deal for entry in file.deals)
    commitment = Commitment(file.event, {entry.deal: entry.hash for entry in file.deals}, file.draw)
    if commitment.root != file.root:
        raise RuleError(
            "root_differs", N_("{file}: the commitment does not match the deals listed in it", file=path.name)
        )
    return commitment


def _refuse_twice(numbers: Iterable[int]) -> None:
    for number, count in Counter(numbers).items():
        if count > 1:
            raise RuleError("deal_twice", N_("deal {deal} is listed {count} times", deal=number, count=count))
