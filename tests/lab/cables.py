"""The camera is pulled out, and put in again."""

from tests.lab.report import Report
from tests.lab.table import LabTable

UNPLUG_CAMERA = """
systemctl stop lab-camera
for try in $(seq 120); do rmmod v4l2loopback 2>/dev/null && exit 0; sleep 1; done
exit 1"""
PLUG_CAMERA = "sh /usr/lib/lab/hardware camera && systemctl start lab-camera"


def run(table: LabTable, report: Report) -> None:
    """At a table that restores: the camera is used then."""
    with report.check("a camera that is pulled out is named on the desk"):
        table.go_on()
        table.machine.must(UNPLUG_CAMERA)
        table.outside.wait_for("the camera is missed", lambda shown: bool(_of_camera(shown["health"])))
    with report.check("plugged in again it reads trays, and nothing is wrong with it any more"):
        table.machine.must(PLUG_CAMERA)
        table.outside.wait_for("the camera is back", lambda shown: not _of_camera(shown["health"]))
        table.begin(3)


def _of_camera(health: dict[str, str]) -> list[str]:
    return [code for code in health if code.startswith("camera")]
