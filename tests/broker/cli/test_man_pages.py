"""Every command has a man page, and shells complete commands."""

import shutil
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from broker.cli.main import homologue
from broker.cli.reference import command_contexts, write_man_pages


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("man")
    write_man_pages(folder)
    return folder


def test_every_command_has_a_page(pages: Path) -> None:
    contexts = [*command_contexts(click.Context(homologue, info_name="homologue"))]
    names = {"homologue.1", *(f"{one.command_path.replace(' ', '-')}.1" for one in contexts)}
    assert {path.name for path in pages.iterdir()} == names
    assert len(names) > len(contexts)


def test_a_page_has_name_synopsis_options_and_examples(pages: Path) -> None:
    text = (pages / "homologue-event-check.1").read_text(encoding="utf-8")
    for part in (
        ".SH NAME\nhomologue\\-event\\-check",
        ".B homologue event check\n[OPTIONS] FOLDER",
        ".B \\-\\-json\n",
    ):
        assert part in text
    assert ".nf\nhomologue event check my\\-cup\n.fi" in text


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_has_no_warnings_about_any_page(pages: Path) -> None:
    said = subprocess.run(
        ["groff", "-man", "-ww", "-z", "-K", "utf8", *map(str, sorted(pages.iterdir()))],
        capture_output=True,
        check=True,
        text=True,
    )
    assert (said.stdout, said.stderr) == ("", "")


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_the_completion_script_of_each_shell_is_printed(shell: str) -> None:
    said = CliRunner().invoke(homologue, ["completion", shell])
    assert (said.exit_code, "_HOMOLOGUE_COMPLETE" in said.stdout) == (0, True)


def test_a_shell_completes_groups_and_options() -> None:
    asked = {"_HOMOLOGUE_COMPLETE": "bash_complete", "COMP_WORDS": "homologue event pe", "COMP_CWORD": "2"}
    said = CliRunner().invoke(homologue, [], env=asked, prog_name="homologue")
    assert said.output.split() == ["plain,people"]
