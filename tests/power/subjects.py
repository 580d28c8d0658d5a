"""All subjects."""

from collections.abc import Mapping
from typing import Final

from tests.power.copies import COPIES, RESTORED
from tests.power.people import PEOPLE
from tests.power.scorers import SCORER
from tests.power.settings import SETTINGS
from tests.power.subject import Subject
from tests.power.tables import KIOSK, TABLE_JOURNAL
from tests.power.upgrades import UPGRADE

SUBJECTS: Final[Mapping[str, Subject]] = {
    one.name: one for one in (KIOSK, TABLE_JOURNAL, SCORER, PEOPLE, COPIES, RESTORED, SETTINGS, UPGRADE)
}
