"""Another version is brought by the desk: the table changes to it between two plays, or leaves it again by itself."""

import re
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from broker.sim.processes import COMMAND
from tests.broker.upgrade.packages import make_debs
from tests.lab.image import newest_debs
from tests.lab.outside import TABLE
from tests.lab.report import Report
from tests.lab.table import LabTable

NEXT: Final = "90.1"
SPOILT: Final = "90.2"
TARGET: Final = "deb13-amd64"
FETCHED_S: Final = 3600.0
"""Two packages over TLS, verified and unpacked, in an emulator."""

CHANGED_S: Final = 3600.0


def relabelled(debs: Iterable[Path], version: str, folder: Path) -> list[Path]:
    """Return packages that are these in all but their version."""
    made = []
    for deb in debs:
        stage = folder / deb.name.partition("_")[0]
        subprocess.run(["dpkg-deb", "--raw-extract", deb, stage], check=True)
        control = stage / "DEBIAN" / "control"
        text = re.sub(r"(?m)^Version: .*(\+deb\d+)$", rf"Version: {version}\1", control.read_text(encoding="utf-8"))
        control.write_text(text, encoding="utf-8")
        for about in stage.glob("usr/lib/homologue/lib/*/site-packages/homologue-*.dist-info"):
            metadata = about / "METADATA"
            text = metadata.read_text(encoding="utf-8")
            metadata.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", text, count=1), encoding="utf-8")
            about.rename(about.with_name(f"homologue-{version}.dist-info"))
        new = folder / f"{stage.name}_{version}_amd64.deb"
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "-Zxz", "-z0", "--build", stage, new],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        made.append(new)
    return made


def run(table: LabTable, report: Report) -> None:
    """At a table that shows a result."""
    folder = table.outside.hall.folder.parent / "upgrade"
    with report.check("a version that the desk offers is fetched and laid beside, and the table stays as it is"):
        first, state = told(table)[0], table.outside.table()["state"]
        table.machine.put("/etc/homologue/upgrade.keys", f"{table.outside.hall.release_key}\n".encode())
        table.machine.must("chmod 644 /etc/homologue/upgrade.keys")
        offer(table, relabelled(newest_debs(), NEXT, make(folder / NEXT)))
        wait_until_told(table, lambda version, step: (version, step) == (first, "ready"), FETCHED_S)
    with report.check("let by the desk it changes to it where it stands, and keeps it once it has proven itself"):
        ask(table, "install")
        wait_until_told(table, lambda version, step: (version, step) == (NEXT, "installed"), CHANGED_S)
        table.in_state(state)
        assert "/upgrade/a/bin/homologue kiosk" in table.commands()
    with report.check("a version that does not come up is left again by itself, for the one before"):
        ask(table, "withdraw")
        offer(table, make_debs(make(folder / SPOILT), SPOILT, TARGET))
        wait_until_told(table, lambda version, step: (version, step) == (NEXT, "ready"), FETCHED_S)
        starts = table.starts()
        ask(table, "install")
        wait_until_told(table, lambda version, step: version == NEXT and step.startswith("did not work"), CHANGED_S)
        table.in_state(state)
        assert table.starts() > starts, f"the spoilt version was never started: {table.log()[-2000:]}"
        ask(table, "withdraw")


def make(folder: Path) -> Path:
    """Make a folder."""
    folder.mkdir(parents=True)
    return folder


def offer(table: LabTable, debs: Iterable[Path]) -> None:
    """Make a bundle, lay it beside the event and offer it, as docs/upgrade.md has it."""
    hall = table.outside.hall
    bundle = hall.folder.parent / "offered.upgrade"
    homologue("bundle", *debs, "--key", hall.release_key_file, "--output", bundle)
    homologue("take", bundle, hall.folder, "--keys", hall.trusted_keys_file)
    ask(table, "offer")


def homologue(*arguments: str | Path) -> None:
    """Run `homologue upgrade`."""
    subprocess.run([COMMAND, "upgrade", *arguments], check=True, stdout=subprocess.DEVNULL)


def ask(table: LabTable, do: str) -> None:
    """Press a button of the desk's page of devices."""
    client = table.outside.hall.client
    token = re.search(r'name="form" value="([^"]+)"', client.get("/devices").text)
    assert token, "the desk shows no form"
    page = client.post(
        "/devices/upgrade", data={"form": token[1], "do": do, "tables": str(TABLE)}, follow_redirects=True
    )
    assert "Noted." in page.text, page.text[:3000]


def told(table: LabTable) -> tuple[str, str]:
    """Return the version that the desk shows of the table, and how far it is with another."""
    row = table.outside.hall.client.get("/devices").text.partition(f'id="machine-{TABLE}"')[2].partition("</tr>")[0]
    cells = [re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"<td>(.*?)</td>", row, re.DOTALL)]
    return cells[1], cells[6] if len(cells) > 6 else ""


def wait_until_told(table: LabTable, holds: Callable[[str, str], bool], limit_s: float) -> None:
    """Wait until the desk says so of version and step."""
    last: list[tuple[str, str]] = [("", "")]

    def shown() -> bool:
        last[0] = told(table)
        return holds(*last[0])

    table.machine.wait_for("the desk's word of another version", shown, limit_s)
