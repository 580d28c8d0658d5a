"""A release is cut from the changelog, built only from its tag, and can be installed by itself."""

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import files
from pathlib import Path
from typing import Final

import pytest

from broker.version import program_version, version_and_commit
from tests.supply.parts import ROOT
from tests.supply.release import NotReleased, check, cut, git, release

CHANGELOG: Final = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.1.0] - 2026-01-02\n\n- First.\n"


@pytest.fixture(autouse=True)
def author(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commit as a fictitious author, ignoring the settings of whoever runs the tests."""
    for name, value in (("NAME", "Nobody"), ("EMAIL", "nobody@example.org")):
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)


def repository(tree: Path) -> Path:
    """Make a folder a repository with one commit; return it."""
    git(tree, "init", "--quiet", ".")
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "All of it")
    return tree


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a repository with a changelog."""
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG, encoding="utf-8")
    return repository(tmp_path)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of this working tree, without ignored files."""
    tree = tmp_path_factory.mktemp("release") / "tree"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_bytes((ROOT / name).read_bytes())
    return tree


@pytest.fixture
def signer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the owner of a new signing key."""
    home, who = tmp_path / "keys", "nobody@example.org"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("GNUPGHOME", str(home))
    make = ["gpg", "--batch", "--passphrase", "", "--quick-generate-key", who, "ed25519", "sign", "never"]
    subprocess.run(make, check=True, capture_output=True)
    yield who
    subprocess.run(["gpgconf", "--kill", "gpg-agent"], check=True)


def version_built(tree: Path, out: Path) -> str:
    """Build the wheel of a tree; return its version."""
    code = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(out)], cwd=tree, check=True, capture_output=True)
    return next(out.glob("*.whl")).name.split("-")[1]


def test_cutting_the_changelog_adds_an_empty_section_and_loses_no_line() -> None:
    made = cut(CHANGELOG, "0.2.0", "2026-03-04")
    assert made.startswith("# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-03-04\n\n### Added\n\n- A thing.\n")
    assert made.endswith(CHANGELOG.partition("- A thing.\n")[2])


def test_a_release_without_changelog_entries_is_refused() -> None:
    with pytest.raises(NotReleased, match="says nothing"):
        cut(cut(CHANGELOG, "0.2.0", "2026-03-04"), "0.3.0", "2026-03-05")


def test_our_changelog_can_be_cut() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\n## [99.0.0] - 2026-03-04\n" in cut(text, "99.0.0", "2026-03-04")


@pytest.mark.parametrize(
    ("version", "why"), [("0.2", None), ("v0.2.0", "written 0.2.0"), ("new", "no version"), ("0.1.0", "not after")]
)
def test_a_version_must_be_normalised_and_newer_than_all_others(small: Path, version: str, why: str | None) -> None:
    git(small, "tag", "v0.1.5")
    if why is None:
        assert not check(small, version)
    else:
        with pytest.raises(NotReleased, match=why):
            check(small, version)


def test_a_tree_with_uncommitted_changes_is_not_released(small: Path) -> None:
    (small / "new").touch()
    with pytest.raises(NotReleased, match="not committed"):
        check(small, "0.2.0")


def test_an_existing_tag_at_head_is_released_again(small: Path) -> None:
    git(small, "tag", "v0.2.0")
    assert check(small, "0.2.0")


def test_the_version_includes_the_commit_if_it_is_known(tmp_path: Path) -> None:
    told = tmp_path / "commit.txt"
    assert version_and_commit(told) == program_version()
    told.write_text("None")
    assert version_and_commit(told) == program_version()
    told.write_text("g24fdebe1897045b6c3d1e26db488882639807a59")
    assert version_and_commit(told) == f"{program_version()} (24fdebe18970)"


@pytest.mark.slow
def test_a_tree_without_git_a_shallow_clone_and_an_archive_have_a_version(copy: Path, tmp_path: Path) -> None:
    assert version_built(copy, tmp_path / "plain") == "0.0.0"
    tree = tmp_path / "tree"
    copy.rename(tree)
    try:
        repository(tree)
        git(tree, "tag", "v7.1.0")
        git(tree, "commit", "--quiet", "--allow-empty", "--message", "One more")
        git(tree, "clone", "--quiet", "--depth", "1", f"file://{tree}", str(tmp_path / "shallow"))
        assert re.fullmatch(r"\d+\.\d+\.\d+\.dev1", version_built(tmp_path / "shallow", tmp_path / "of-shallow"))
        commit = (tmp_path / "shallow" / "broker" / "commit.txt").read_text(encoding="ascii")
        assert commit == f"g{git(tree, 'rev-parse', 'HEAD')}"
        (tmp_path / "archive").mkdir()
        subprocess.run(["git", "archive", "--output", str(tmp_path / "a.tar"), "HEAD"], cwd=tree, check=True)
        with tarfile.open(tmp_path / "a.tar") as archive:
            archive.extractall(tmp_path / "archive", filter="data")
        assert version_built(tmp_path / "archive", tmp_path / "of-archive") == "7.1.1.dev1"
    finally:
        subprocess.run(
            ["rm", "-rf", str(tree / ".git"), str(tree / "build"), str(tree / "broker/commit.txt")], check=True
        )
        tree.rename(copy)


@pytest.mark.slow
def test_a_release_is_built_from_its_tag_and_its_wheel_runs_by_itself(copy: Path, signer: str, tmp_path: Path) -> None:
    tree = repository(copy)
    git(tree, "config", "user.signingkey", signer)
    sums, signature, *made = release(tree, "97.1.0", tmp_path / "dist", targets=())
    assert [file.name for file in made] == ["homologue-97.1.0-py3-none-any.whl", "homologue-97.1.0.tar.gz"]
    subprocess.run(["gpg", "--verify", signature, sums], check=True)
    git(tree, "verify-tag", "v97.1.0")
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path / "dist", check=True)
    assert git(tree, "tag", "--points-at", "HEAD") == "v97.1.0"
    assert git(tree, "status", "--porcelain") == ""

    again = release(tree, "97.1.0", tmp_path / "again", targets=())
    assert [file.read_bytes() for file in again if file.name != signature.name] == [
        file.read_bytes() for file in (sums, *made)
    ]

    shipped = set(git(tree, "ls-files", "broker", "kiosk", "vision", "firmware").splitlines())
    with zipfile.ZipFile(made[0]) as wheel:
        inside = {name for name in wheel.namelist() if ".dist-info/" not in name and ".data/" not in name}
    left_out = {name for name in shipped - inside if not name.startswith("vision/training/")}
    assert {Path(name).name for name in left_out} <= {"README.md", "flash", "quality.yaml"}
    assert {name for name in inside - shipped if not name.endswith(".mo")} == {"broker/commit.txt"}
    assert [name for name in inside if name.startswith(("tests/", "vision/training/"))] == []
    with tarfile.open(made[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert inside <= names
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "requirements.lock"} <= names
    assert [name for name in names if name.startswith(("tests/", "vision/training/", ".github/"))] == []

    place = tmp_path / "empty"
    venv.create(place, with_pip=False)
    site = next(place.glob("lib/python3*/site-packages"))
    for file in files("click") or ():  # the only package that the command line needs before a command runs
        if file.suffix == ".py":
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            (site / file).write_bytes(Path(str(file.locate())).read_bytes())
    with zipfile.ZipFile(made[0]) as wheel:
        wheel.extractall(site)  # noqa: S202 - built a moment ago
    run = "import sys; sys.argv[0] = 'homologue'; from broker.cli.main import homologue; homologue()"
    told = subprocess.run(
        [str(place / "bin" / "python"), "-I", "-c", run, "--version"], capture_output=True, text=True, check=True
    )
    assert told.stdout == f"homologue 97.1.0 ({git(tree, 'rev-parse', '--short=12', 'HEAD')})\n"
