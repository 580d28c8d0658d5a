"""The site's hook sorts versions and makes Chinese searchable."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

from tests.supply.site import newest_first, on_post_build, parted


def test_the_newest_version_comes_first_and_other_names_last() -> None:
    assert newest_first(["0.9.0", "development", "0.10.0", "0.10.0rc1"]) == [
        "0.10.0",
        "0.10.0rc1",
        "0.9.0",
        "development",
    ]


def test_chinese_characters_are_separated_and_other_words_are_not() -> None:
    made = parted("错和, faux hu 和 false hu")
    assert re.split(r"[\s\u200b,]+", made) == ["错", "和", "faux", "hu", "和", "false", "hu"]
    assert parted(made) == made


def test_the_root_page_redirects_to_the_newest_version(tmp_path: Path) -> None:
    for name in ("0.1.0", "development", "0.2.0"):
        (tmp_path / name / "search").mkdir(parents=True)
    index = tmp_path / "development" / "search" / "search_index.json"
    index.write_text('{"text": "错和"}', encoding="utf-8")
    on_post_build(SimpleNamespace(site_dir=str(tmp_path / "development")))
    listed = json.loads((tmp_path / "versions.json").read_text(encoding="utf-8"))
    assert [one["version"] for one in listed] == ["0.2.0", "0.1.0", "development"]
    assert "url=0.2.0/index.html" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert json.loads(index.read_text(encoding="utf-8")) == {"text": "错\u200b和"}
