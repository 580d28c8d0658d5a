"""A hook for MkDocs (mkdocs.yml): a list of versions, and a search that finds Chinese words."""

import json
import re
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

REDIRECT = (
    '<!doctype html><meta charset="utf-8"><title>Homologue</title>'
    '<meta http-equiv="refresh" content="0; url={to}/index.html">\n'
)


def newest_first(names: list[str]) -> list[str]:
    """Return versions, newest first, followed by names that are not versions."""

    def rank(name: str) -> tuple[bool, Version]:
        try:
            return True, Version(name)
        except InvalidVersion:
            return False, Version("0")

    return sorted(names, key=rank, reverse=True)


def parted(text: str) -> str:
    """Put a zero-width space between Chinese characters, so that the search finds each of them."""
    return re.sub("(?<=[\u4e00-\u9fff])(?=[\u4e00-\u9fff])", "\u200b", text)


def on_post_build(config: Any, **_: Any) -> None:  # noqa: ANN401 - MkDocs is only installed to build a site
    """Write the list of versions and a redirect to the newest one, and separate Chinese characters in the search."""
    for index in Path(config.site_dir).rglob("search_index.json"):
        index.write_text(parted(index.read_text(encoding="utf-8")), encoding="utf-8")
    all_versions = Path(config.site_dir).parent
    names = newest_first([folder.name for folder in all_versions.iterdir() if folder.is_dir()])
    listed = [{"version": name, "title": name, "aliases": []} for name in names]
    (all_versions / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
    (all_versions / "index.html").write_text(REDIRECT.format(to=names[0]), encoding="utf-8")
