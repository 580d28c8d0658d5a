"""A deal told in the serials of its set: what lies in the carrier, without a face. As JSON, CSV, or a sheet (PDF)."""

import csv
import io
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from broker.contract.carrier_sheet import CarrierSheet, as_text
from broker.contract.words import SEATS, DealNo, EventName, Hash, Name, Seat, SetNo, Wind
from broker.rules.deal import SerialTray, form_hash, order_of
from broker.rules.errors import RuleError
from broker.scorer.folder import DealRecord, Registry


class Layout(Struct, frozen=True):
    """Where each serial of a set lies in one deal's carrier; `form` is the hash that the tables report."""

    event: EventName
    title: Name
    deal: DealNo
    set: SetNo
    prevalent_wind: Wind
    dealer: Seat
    form: Hash
    order: Mapping[Seat, SerialTray]

    @property
    def payload(self) -> str:
        """What the sheet's QR code says: which deal this is, and nothing of it."""
        return as_text(CarrierSheet(self.event, self.deal))


def layout_of(record: DealRecord, registry: Registry, event: str, title: str) -> Layout:
    """Tell a deal in serials. Raises RuleError `not_a_deal`, `not_a_set`, `set_unknown`."""
    if record.set not in registry:
        raise RuleError("set_unknown", f"deal {record.number} lies in set {record.set}, which has no registry")
    order = order_of(record.deal(), registry[record.set])
    return Layout(
        event=event,
        title=title,
        deal=record.number,
        set=record.set,
        prevalent_wind=record.prevalent_wind,
        dealer=record.dealer,
        form=form_hash(order),
        order=order,
    )


def as_json(layout: Layout) -> bytes:
    """Give a layout as JSON: for each seat the rows of 13, 11 and 10 serials."""
    return msgspec.json.encode(layout) + b"\n"


def as_csv(layout: Layout) -> bytes:
    """Give a layout as CSV, a line a place; rows and places count from 1, the hand first."""
    text = io.StringIO(newline="")
    lines = csv.writer(text)
    lines.writerow(("deal", "set", "seat", "row", "place", "serial"))
    for seat in SEATS:
        for row, serials in enumerate(layout.order[seat], 1):
            lines.writerows((layout.deal, layout.set, seat, row, place, s) for place, s in enumerate(serials, 1))
    return text.getvalue().encode()
