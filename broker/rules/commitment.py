"""A commitment to deals: published before the event, so that anybody can check afterwards that no deal was changed.

Each deal is hashed (SHA-256) with a salt of its own, 256 random bits without which the hash tells nothing of the
deal; the root is the hash over the list of those hashes. What is hashed are plain lines of text, so that
`sha256sum` alone can verify them: docs/deals.md describes them for people, a test pins them.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from broker.errors import RuleError
from broker.i18n import N_
from broker.protocol import SEATS, EventName, Hash
from broker.rules.deal import Deal

DEAL_HEAD: Final = "homologue-deal-v1"
ROOT_HEAD: Final = "homologue-commitment-v1"
DRAWN_HEAD: Final = "homologue-commitment-v2"
"""First lines, so that no text of one kind is ever one of the other kind, or of another version."""


def deal_text(event: str, deal: Deal, salt: str) -> str:
    """Return the lines whose SHA-256 is a deal's hash: one text for one deal in one event.

    `salt` is 64 hexadecimal digits. Raises RuleError `bad_event_name` or `bad_salt`.
    """
    trays = (f"{seat} {' '.join(deal.faces[seat])}" for seat in SEATS)
    return _lines(
        DEAL_HEAD,
        f"event {checked_name(event)}",
        f"deal {deal.number}",
        f"prevalent_wind {deal.prevalent_wind}",
        f"dealer {deal.dealer}",
        *trays,
        f"salt {_checked_salt(salt)}",
    )


class DrawName(Struct, frozen=True, forbid_unknown_fields=True):
    """Which draw deals come from: its number, and the hash of its announcement."""

    number: Annotated[int, Meta(ge=1)]
    announcement: Hash


def root_text(event: str, hashes: Mapping[int, str], draw: DrawName | None = None) -> str:
    """Return the lines whose SHA-256 is the root: the deals' hashes by number. Raises RuleError `bad_event_name`."""
    head, named = (DRAWN_HEAD, [f"draw {draw.number} {draw.announcement}"]) if draw else (ROOT_HEAD, [])
    listed = (f"deal {number} {hashes[number]}" for number in sorted(hashes))
    return _lines(head, f"event {checked_name(event)}", *named, *listed)


@dataclass(frozen=True, slots=True)
class Commitment:
    """What is published before the event: no face and no salt is in it."""

    event: str
    hashes: Mapping[int, str]
    draw: DrawName | None = None

    @property
    def root(self) -> str:
        """The one hash over everything (hex)."""
        return _sha256(root_text(self.event, self.hashes, self.draw))

    def check(self, event: str, deal: Deal, salt: str) -> None:
        """Raise RuleError `other_event`, `deal_not_committed` or `deal_differs` unless this deal was committed to."""
        if event != self.event:
            raise RuleError("other_event", f"revealed for event {event}, committed to for event {self.event}")
        if deal.number not in self.hashes:
            raise RuleError("deal_not_committed", N_("deal {deal} is not in the commitment", deal=deal.number))
        if _sha256(deal_text(event, deal, salt)) != self.hashes[deal.number]:
            raise RuleError("deal_differs", N_("deal {deal} is not what was committed to", deal=deal.number))


def commit_deals(event: str, deals: Iterable[tuple[Deal, str]], draw: DrawName | None = None) -> Commitment:
    """Commit to deals, each with its salt. Raises RuleError as `deal_text` does."""
    return Commitment(event, {deal.number: _sha256(deal_text(event, deal, salt)) for deal, salt in deals}, draw)


def checked_name(event: str) -> str:
    """Return an event's name back. Raises RuleError `bad_event_name` if it could not be part of a topic."""
    try:
        return msgspec.convert(event, EventName)
    except msgspec.ValidationError:
        raise RuleError("bad_event_name", f"{event[:40]!r} cannot be an event's name") from None


def _checked_salt(salt: str) -> str:
    try:
        return msgspec.convert(salt, Hash)
    except msgspec.ValidationError:
        raise RuleError("bad_salt", "a salt is 64 hexadecimal digits") from None  # never quoted: it may be secret


def _lines(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
