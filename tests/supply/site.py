"""Says beside the folders of the site which versions there are: a hook of MkDocs (mkdocs.yml)."""

import json
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

REDIRECT = (
    '<!doctype html><meta charset="utf-8"><title>Homologue</title>'
    '<meta http-equiv="refresh" content="0; url={to}/index.html">\n'
)


def newest_first(names: list[str]) -> list[str]:
    """Return versions in their order, and what is no version behind them."""

    def rank(name: str) -> tuple[bool, Version]:
        try:
            return True, Version(name)
        except InvalidVersion:
            return False, Version("0")

    return sorted(names, key=rank, reverse=True)


def on_post_build(config: Any, **_: Any) -> None:  # noqa: ANN401 - MkDocs is there when a site is built, and not before
    """Write the list from which a reader chooses a version, and lead who names none to the newest."""
    all_versions = Path(config.site_dir).parent
    names = newest_first([folder.name for folder in all_versions.iterdir() if folder.is_dir()])
    listed = [{"version": name, "title": name, "aliases": []} for name in names]
    (all_versions / "versions.json").write_text(json.dumps(listed), encoding="utf-8")
    (all_versions / "index.html").write_text(REDIRECT.format(to=names[0]), encoding="utf-8")
