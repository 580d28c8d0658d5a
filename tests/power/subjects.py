"""All that is cut."""

from collections.abc import Mapping
from typing import Final

from tests.power.subject import Subject
from tests.power.tables import KIOSK, TABLE_JOURNAL

SUBJECTS: Final[Mapping[str, Subject]] = {one.name: one for one in (KIOSK, TABLE_JOURNAL)}
