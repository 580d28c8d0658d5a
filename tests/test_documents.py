"""The documents are right about commands, files, topics and make targets."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

import click
import pytest
from babel.messages.pofile import read_po

from broker.cli.index import FILE
from broker.cli.main import GROUP, homologue
from broker.cli.reference import PAGES

ROOT: Final = Path(__file__).parents[1]
LINK: Final = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
FENCED: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
COMMAND: Final = re.compile(r"^\| `homologue ([\w-]+)", re.MULTILINE)


def tracked(*patterns: str) -> list[Path]:
    """Return the files in the repository."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, check=True)
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def documents() -> list[Path]:
    """Return all pages for people."""
    return [path for path in tracked("*.md") if path.is_file()]


def test_the_readme_lists_the_existing_commands() -> None:
    readme, points = (
        (ROOT / "README.md").read_text(encoding="utf-8"),
        [point.name for point in entry_points(group=GROUP)],
    )
    assert sorted(COMMAND.findall(readme)) == sorted({name.partition(".")[0] for name in points})
    assert [
        name for name in points if name.startswith("rules.") and f"`{name.removeprefix('rules.')}`" not in readme
    ] == []


def test_generated_pages_are_up_to_date() -> None:
    # In a separate process, as `make docs` does, because click caches a command's help.
    made = subprocess.run(
        [sys.executable, "-m", "broker.cli.reference", *PAGES], capture_output=True, text=True, check=True
    )
    files = [FILE if page == "index" else ROOT / "docs" / f"{page}.md" for page in PAGES]
    assert "".join(file.read_text(encoding="utf-8") for file in files) == made.stdout, "make docs"


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as forges and the site create them."""
    headings = re.findall(r"^#+ (.*)$", FENCED.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in plain}


def test_links_lead_to_existing_pages() -> None:
    links = [
        (page, page.parent / file if file else page, at)
        for page in documents()
        for file, at in LINK.findall(page.read_text(encoding="utf-8"))
    ]
    assert [(page, file) for page, file, _ in links if not file.exists()] == []
    known = {file: anchors(file) for _, file, at in links if at and file.suffix == ".md"}
    assert [(page, file, at) for page, file, at in links if at and file in known and at not in known[file]] == []


def commands_in(page: Path) -> Iterator[list[str]]:
    """Return the commands `homologue ...` in a page's shell boxes as lists of words; of a pipeline, each."""
    for box in re.findall(r"^ *```sh\n(.*?)^ *```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in box.replace("\\\n", " ").splitlines():
            for part in re.split(r" \| ", re.sub(r"<<?'?\w.*|^\s*\$ ", "", line)):
                words = shlex.split(part, comments=True)
                words = words[words[:1] == ["sudo"] :]
                if words and Path(words[0]).name == "homologue" and words[1:]:
                    yield words[1:]


def test_commands_in_pages_have_existing_options() -> None:
    for page, words in ((one, words) for one in documents() for words in commands_in(one)):
        command: click.Command | None = homologue
        with click.Context(homologue) as context:
            while words and isinstance(command, click.Group) and not words[0].startswith("-"):
                command = command.get_command(context, words.pop(0))
            assert command is not None, (page, words)
            known = {name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts]}
            known |= set(context.help_option_names) | {"--help", "--version"}
            assert [word for word in words if word.startswith("--") and word.split("=")[0] not in known] == [], page


def samples(page: Path) -> Iterator[tuple[str, str]]:
    """Return a page's commands that need no file, each with the output shown."""
    for box in re.findall(r"^```sh\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for command, shown in re.findall(r"^(?:\$ )?((?:echo|homologue).*)\n((?:(?!\$ ).*\n)*)", box, re.MULTILINE):
            if shown.strip() and "game" not in command and not shown.startswith("homologue"):
                yield command, shown


@pytest.mark.parametrize("page", ["README.md", "docs/riichi.md", "docs/riichi-session.md"])
def test_commands_in_pages_print_what_is_shown(page: str) -> None:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    found = [*samples(ROOT / page)]
    assert found != []
    for command, shown in found:
        told = subprocess.run(
            ["bash", "-c", command], env={**os.environ, "PATH": programs}, capture_output=True, text=True, check=True
        )
        assert told.stdout.strip() == shown.strip()


ITALIC: Final = re.compile(r"(?<![*\w])\*([^*\n]+)\*(?![*\w])")
PART_AND_CODE: Final = re.compile(r"[\w-]+: [a-z]+_\w+")


@pytest.fixture(scope="module")
def texts() -> list[re.Pattern[str]]:
    """Return what the program can print, as a pattern with a wildcard for each value."""
    with (ROOT / "broker" / "locale" / "homologue.pot").open("rb") as file:
        ids = [id_ for one in read_po(file) for id_ in ([*one.id] if isinstance(one.id, (list, tuple)) else [one.id])]
    worded = [id_ for id_ in ids if re.search(r"\w", re.sub(r"\{\w+\}", "", id_))]
    return [
        re.compile(re.sub(r"\\\{\w+\\\}", r"\\S+(?: \\S+){0,2}", re.escape(id_.rstrip(".:…"))), re.IGNORECASE)
        for id_ in worded
    ]


@pytest.mark.parametrize("page", ["arbiter", "deals", "organiser", "saturday", "upgrade"])
def test_texts_quoted_from_the_desk_exist(page: str, texts: list[re.Pattern[str]]) -> None:
    plain = re.sub(
        r"`[^`]*`|\*\*\*?.*?\*\*\*?", "", FENCED.sub("", (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    )
    quoted = [one.rstrip(".:…") for one in ITALIC.findall(plain) if not PART_AND_CODE.fullmatch(one)]
    assert quoted != []
    assert [one for one in quoted if not any(text.fullmatch(one) for text in texts)] == []


def test_every_page_is_in_the_menu_and_links_only_to_the_site() -> None:
    pages = {path.name for path in tracked("docs/*.md")}
    menu = re.findall(r"- ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(menu) == sorted(name for name in pages if name.count(".") == 1)
    assert [name for name in pages if name.count(".") == 2 and f"{name.split('.')[0]}.md" not in pages] == []
    out = [
        (name, file) for name in pages for file, _ in LINK.findall((ROOT / "docs" / name).read_text(encoding="utf-8"))
    ]
    assert [each for each in out if each[1].startswith(("..", "/"))] == []


@pytest.mark.parametrize("room", ["broker", "firmware", "kiosk", "systemd", "vision"])
def test_every_room_has_a_readme(room: str) -> None:
    assert (ROOT / room / "README.md").is_file()


def test_every_make_target_has_a_description() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^\.PHONY: (\S+)$", makefile, re.MULTILINE)
    assert [target for target in targets if not re.search(rf"^{target}:.* ## \S", makefile, re.MULTILINE)] == []


def test_actions_of_the_public_ci_are_pinned_by_hash() -> None:
    used = re.findall(r"uses: *(\S+)", "".join(path.read_text(encoding="utf-8") for path in tracked(".github/*.yml")))
    assert used != []
    assert [one for one in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", one)] == []


@pytest.mark.parametrize(
    "name", ["requirements.lock", "requirements-bench.lock", "requirements-site.lock", "requirements-supply.lock"]
)
def test_lock_files_pin_by_hash_without_addresses(name: str) -> None:
    lock = (ROOT / name).read_text(encoding="utf-8")
    pins = re.split(r"\n(?=\S)", lock.strip())
    assert [pin for pin in pins if "--hash=sha256:" not in pin] == []
    assert re.findall(r"https?:|--index|--find-links|--extra", lock) == []


MODULE: Final = re.compile(r"`([\w./-]+\.py)`")


def test_modules_named_in_readmes_exist() -> None:
    named = [
        (page, name) for page in tracked("*/README.md") for name in MODULE.findall(page.read_text(encoding="utf-8"))
    ]
    assert named != []
    assert [each for each in named if not any((at / each[1]).is_file() for at in (each[0].parent, ROOT))] == []


def test_codes_shown_at_the_desk_are_explained() -> None:
    explained = (ROOT / "docs" / "codes.md").read_text(encoding="utf-8")
    shown = [
        code
        for page in tracked("broker/web/*.html")
        for code in re.findall(r"<code>([a-z]+(?:_[a-z]+)+)</code>", page.read_text(encoding="utf-8"))
    ]
    assert shown != []
    assert [code for code in shown if f"| `{code}` |" not in explained] == []
