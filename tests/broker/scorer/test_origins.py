"""Where players come from: what their list says, and nothing of what cannot be read."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.contract.plans import Player
from broker.organiser.events.listed import Listed, players_csv
from broker.scorer.origins import PLAYERS, Origin, Origins, read_origins

SAID = st.text(st.characters(min_codepoint=33, max_codepoint=0x30FF, exclude_categories=("Cc", "Cs", "Z", "Cf", "Cn")))


def read(folder: Path, content: str | bytes) -> Origins:
    (folder / PLAYERS).write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_origins(folder)


@given(country=st.from_regex(r"[A-Z]{2,3}", fullmatch=True), club=SAID.filter(lambda text: 0 < len(text) <= 60))
def test_what_an_organiser_has_kept_is_read_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, country: str, club: str
) -> None:
    club = club.lstrip("'") or "club"
    listed = [Listed(Player(id="p01", name="Ana"), (country, club, "N1", "10000001"))]
    assert read(tmp_path_factory.mktemp("list"), players_csv(listed)) == {"p01": Origin(country, club)}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_columns_may_stand_in_any_order_and_be_parted_as_spreadsheets_do(tmp_path: Path, separator: str) -> None:
    lines = (("Club", "NAME", "id", "country"), ("Paris", "Ana", "p01", "FRA"), ("", "Li", "p02", ""))
    assert read(tmp_path, "\n".join(map(separator.join, lines))) == {"p01": Origin("FRA", "Paris")}


@pytest.mark.parametrize(
    "content",
    ["", "name\nAna\n", b"\xff\xfe\x00", 'id,country\n"p01,FR', "id,country,club\np01,France,\np02,fr,\u202e\n"],
)
def test_what_cannot_be_read_is_as_if_it_were_not_said(tmp_path: Path, content: str | bytes) -> None:
    assert read(tmp_path, content) == {}


def test_an_event_without_a_list_has_nobody_s(tmp_path: Path) -> None:
    assert read_origins(tmp_path) == {}
