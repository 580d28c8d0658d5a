"""All exports of an event agree with the desk on whether it is final."""

import json
import zipfile
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest

from broker.export.archive import BY_NAME, ExportSource, archive
from broker.i18n import Translator
from broker.people.anchors import anchor_of, check_anchor
from broker.protocol import FinalDeclared
from broker.rules import RuleError
from broker.scorer import open_stored_event
from tests.broker.export.test_printed_results import text_of
from tests.broker.export.test_what_counts import ruled
from tests.broker.rulings.ruled import AT


@pytest.mark.parametrize("name", ["standings", "travellers"])
def test_each_printed_page_has_the_anchor(over: Path, name: str) -> None:
    stored, anchor = open_stored_event(over), anchor_of(over)
    at = datetime.fromtimestamp(AT / 1000, UTC)
    pages = text_of(BY_NAME[f"{name}.pdf"].content(ExportSource(over, stored, Translator("en"), at, anchor=anchor)))
    assert [f"Anchor: {anchor}" in page for page in pages] == [True] * len(pages)
    assert check_anchor(over, anchor).holds


def test_no_export_is_final_before_the_head_arbiter_declares_it(over: Path) -> None:
    at, found = datetime.fromtimestamp(AT / 1000, UTC), []
    for said in ([], [(FinalDeclared(), None, None)]):
        stored = ruled(said)
        source = ExportSource(over, stored, Translator("en"), at)
        pages = [text_of(BY_NAME[f"{name}.pdf"].content(source))[0] for name in ("standings", "travellers")]
        made = json.loads(BY_NAME["event.json"].content(source))
        archived = zipfile.ZipFile(BytesIO(archive(source))).namelist()
        found.append((["Final" in page for page in pages], made["final"], "cup/ema.csv" in archived))
    assert found == [([False, False], False, False), ([True, True], True, True)]
    with pytest.raises(RuleError, match="declared"):
        BY_NAME["ema.csv"].content(ExportSource(over, ruled([]), Translator("en"), at))
