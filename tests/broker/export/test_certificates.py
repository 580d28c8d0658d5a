"""Certificates of teams name their players; those of players are in the championship (`tests/e2e`)."""

from datetime import UTC, datetime

import pypdfium2
import pytest

from broker.export.certificates import certificates_pdf
from broker.i18n import Translator, languages
from broker.protocol import TeamStanding
from tests.broker.scorer.team_event import TEAMS, team_event


@pytest.mark.parametrize("language", languages())
def test_the_certificate_of_a_team_names_each_of_its_players(language: str) -> None:
    rows = [TeamStanding(place=at, team=team, imp=9 - at, fines=0, deals=4) for at, team in enumerate(TEAMS, 1)]
    made = certificates_pdf(team_event(), rows, datetime(2026, 5, 1, tzinfo=UTC), Translator(language))
    pages = [one.get_textpage().get_text_bounded() for one in pypdfium2.PdfDocument(made)]
    wanted = [[team, *(team_event().name_of(one) for one in members)] for team, members in TEAMS.items()]
    lacking = [name for names, text in zip(wanted, pages, strict=True) for name in names if name not in text]
    assert lacking == []
