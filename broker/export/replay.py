"""A page that replays the plays of an event in a browser: all tables of a deal side by side, turn by turn.

It is a single file that needs no server. The desk and the published files have the same page for one deal. It is only
available once the standings are final, because faces are secret until then. It contains the plays that are known step
by step: simulated ones, and those reconstructed from their rivers.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from html import escape
from importlib import resources
from itertools import groupby
from types import MappingProxyType
from typing import Any, Final

from broker.event import HandRecord
from broker.export.pmn.event import event_records
from broker.export.pmn.record import PmnRecord
from broker.i18n import N_, SEAT_NAMES, Translator
from broker.protocol import SEATS
from broker.rules import RuleError, seat_wind
from broker.scorer import StoredEvent

NO_HANDS: Final[Mapping[tuple[int, int], HandRecord]] = MappingProxyType({})

ACTIONS = {
    "T": N_("draws"),
    "D": N_("discards"),
    "C": N_("chow"),
    "P": N_("pung"),
    "Z": N_("kong"),
    "A": N_("concealed kong"),
    "B": N_("kong"),
    "H": N_("hu"),
}
"""The seat's action, by PMN's letter."""


def replay_page(stored: StoredEvent, _: Translator, deal: int | None = None, *, back: str = "") -> str:
    """Return the page, in HTML: for all deals, or for one with a link `back` to its page.

    Raises RuleError `not_final`, `no_riichi_record`, and as `Event.open_deal`.
    """
    if not stored.final:
        raise RuleError("not_final", "faces are secret until the head arbiter has declared the standings final")
    title = _("{event}: replay", event=stored.event.plan.title)
    above = _link(deal, back, _) if deal else ""
    return page_of_records(event_records(stored, deal=deal), title, _, stored.hands, above)


def _link(deal: int, back: str, _: Translator) -> str:
    text = escape(_("Deal {deal}", deal=deal))
    return f'<p><a href="{escape(back)}">‹ {text}</a></p>'


def page_of_records(
    records: Iterable[PmnRecord],
    title: str,
    _: Translator,
    hands: Mapping[tuple[int, int], HandRecord] = NO_HANDS,
    above: str = "",
) -> str:
    """Return the page for those records that have a Play. `hands` shows which steps are unproved, by round and table.

    `above`: HTML before its heading.
    """
    known = sorted((record for record in records if record.steps), key=lambda record: record.board)
    deals = [
        {"title": str(number), "plays": [_play(record, hands, _) for record in of_deal]}
        for number, of_deal in groupby(known, key=lambda record: record.board)
    ]
    data = json.dumps({"words": _words(_), "deals": deals}, ensure_ascii=False).replace("<", "\\u003c")
    values = {"policy": REPLAY_POLICY, "language": _.language, "title": escape(title), "above": above, "data": data}
    page = _template()
    for name, value in values.items():
        page = page.replace(f"{{{{{name}}}}}", value)
    return page


def _template() -> str:
    return resources.files("broker.export").joinpath("replay.html").read_text(encoding="utf-8")


def _policy(page: str) -> str:
    """Return a policy that allows the page's own styles and scripts, by hash, and nothing that was injected."""
    hashes = {
        tag: " ".join(
            f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
            for text in re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        )
        for tag in ("style", "script")
    }
    own = f"style-src {hashes['style']}; script-src {hashes['script']}"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


REPLAY_POLICY: Final = _policy(_template())
"""The page's Content-Security-Policy."""


def _words(_: Translator) -> dict[str, Any]:
    return {
        "deal": _("Deal"),
        "seat": _("Turns of"),
        "turn": _("turn {turn}", turn="{turn}"),
        "before": _("Turn before"),
        "after": _("Next turn"),
        "all": _("All seats"),
        "over": _("The play was over before this turn."),
        "note": _(
            "All tables after the same turn of one seat; use ← and →, or swipe. Dashed tile: it is not proved when "
            "this tile was discarded."
        ),
        "none": _("No play of this event is known step by step."),
        "seats": [_(SEAT_NAMES[seat]) for seat in SEATS],
        "did": {letter: _(text) for letter, text in ACTIONS.items()},
    }


def _play(record: PmnRecord, hands: Mapping[tuple[int, int], HandRecord], _: Translator) -> dict[str, Any]:
    """Return one play by chairs, as on its deal's page. A record names seats by their winds."""
    hand = hands.get((record.round or 0, record.table or 0))
    unsure = set(_unproved(hand)) if hand else set()
    winds = [seat_wind(chair, record.dealer or SEATS[0]) for chair in SEATS]
    return {
        "title": _("Table {table}, round {round}", table=record.table, round=record.round),
        "names": [record.players[wind] for wind in winds],
        "points": [f"{record.points[wind]:+}" for wind in winds],
        "hands": [(record.hands or {})[wind] for wind in winds],
        "steps": [
            [step.letter, winds.index(step.seat), step.tile, number in unsure]
            for number, step in enumerate(record.steps or (), 1)
        ],
    }


def _unproved(hand: HandRecord) -> Iterator[int]:
    """Yield the numbers of unproved steps, as a record counts them."""
    number = 0
    for at, action in enumerate(hand.actions, 1):
        number += len(action.actors)  # `no_claim` has no actors, and no step in the record
        if at in hand.unproved:
            yield number
