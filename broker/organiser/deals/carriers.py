"""What lies in the carriers of an event's folder: its deals, told in serials."""

from collections.abc import Collection
from functools import partial
from pathlib import Path

from broker.organiser.deals import revealed
from broker.organiser.deals.committed import event_of, head_of, refuse_other_event
from broker.organiser.deals.files import every
from broker.organiser.deals.layout import Layout, layout_of
from broker.scorer.folder import read_registry


def layouts_of(folder: Path, numbers: Collection[int] = (), event: str | None = None) -> list[Layout]:
    """Give them by deals: all, or these. `event`: its name, where the folder does not say it.

    Raises BadEvent; RuleError `event_not_said`, `other_event`, `deal_unknown`; an ExceptionGroup of RuleErrors as
    `layout_of`.
    """
    name = event_of(folder, event)
    refuse_other_event(folder)
    head = head_of(folder)
    told = partial(layout_of, registry=read_registry(folder), event=name, title=head.title if head else name)
    return every(told, revealed.chosen(folder, numbers))
