"""Run the arm64 packages without a Pi: `make arm64`.

They are unpacked into an arm64 Debian root and run there, program by program, in an emulator of a Pi 4's processor.
/proc and /sys describe a Pi 4's processor as well, since onnxruntime reads them at import and crashes if they are
another machine's.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from build import BUILD, PREFIX, PYTHON, ROOT, Target, run

PHOTO: Final = ROOT / "tests" / "vision" / "pictures" / "dev2_015_tray-faulty.jpg"

PI: Final = {
    "processor": "0", "BogoMIPS": "108.00", "Features": "fp asimd evtstrm crc32 cpuid", "CPU implementer": "0x41",
    "CPU architecture": "8", "CPU variant": "0x0", "CPU part": "0xd08", "CPU revision": "3",
}  # fmt: skip
"""The entries for each of a Pi 4's four cores in /proc/cpuinfo."""

CORES: Final = range(4)

HAND: Final = {
    "concealed": ["1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m", "1p", "2p", "3p", "5s"],
    "melds": [], "winning_tile": "5s", "self_drawn": True, "seat_wind": "east",
}  # fmt: skip

JOURNAL: Final = """
import sys
from pathlib import Path
from broker.protocol.signing import SigningKey
from kiosk.config import open_device_key
from kiosk.journal import TableJournal
from kiosk.journal_file import JournalOwner

folder = Path(sys.argv[1])
key = open_device_key(folder / "device.key")
for _ in range(2):
    journal = TableJournal(folder / "table.sqlite", JournalOwner("cup", 3), key)
    print(journal.empty)
    journal.close()
"""

IMPORTS: Final = (
    "import argon2, cv2, cryptography, gpiozero, lgpio, MahjongGB, msgspec, numpy, onnxruntime, paho, pygame, \
serial, sqlalchemy, starlette, zeroconf, zxingcpp; print(onnxruntime.__version__)"
)


class Emulated:
    """The packages of one release, in their own root file system."""

    def __init__(self, dist: str) -> None:
        """Use a root under build/deb."""
        self.target = Target(dist, "arm64")
        self.root = BUILD / f"arm-{dist}"

    def prepare(self) -> None:
        """Create the root if there is none, and unpack the packages into it."""
        if not (self.root / "ready").exists():
            shutil.rmtree(self.root, ignore_errors=True)
            packages = "python3,libstdc++6,libgcc-s1,zlib1g,fonts-wqy-microhei,libegl1,libgles2,libgbm1,liblapack3"
            run("mmdebstrap", "--quiet", "--variant=extract", "--skip=check/qemu", "--arch=arm64",
                f"--include={packages}", self.target.dist, self.root)  # fmt: skip
            for name in ("lib", "bin"):
                if not (self.root / name).exists():
                    (self.root / name).symlink_to(f"usr/{name}")
            for name in ("blas/libblas.so.3", "lapack/liblapack.so.3"):  # links made by package installation
                link = self.root / "usr/lib/aarch64-linux-gnu" / Path(name).name
                link.unlink(missing_ok=True)
                link.symlink_to(name)
            shutil.rmtree(self.root / "dev", ignore_errors=True)  # use this machine's devices
            self._be_a_pi()
            (self.root / "ready").touch()
        shutil.rmtree(self.root / PREFIX, ignore_errors=True)
        for deb in sorted(
            BUILD.glob(f"homologue-*+{'deb12' if self.target.dist == 'bookworm' else 'deb13'}_arm64.deb")
        ):
            run("dpkg-deb", "--extract", deb, self.root)

    def _be_a_pi(self) -> None:
        """Write a Pi 4's processor files in /proc and /sys, which the emulator uses instead of this machine's."""
        about = "".join(
            "".join(f"{key}\t: {core if key == 'processor' else value}\n" for key, value in PI.items()) + "\n"
            for core in CORES
        )
        cpus = "sys/devices/system/cpu"
        files = {"proc/cpuinfo": f"{about}Revision\t: c03115\nModel\t: Raspberry Pi 4 Model B Rev 1.5\n"}
        files |= {f"{cpus}/{name}": "0-3" for name in ("possible", "present", "online")} | {f"{cpus}/kernel_max": "255"}
        for core in CORES:
            files |= {f"{cpus}/cpu{core}/topology/{name}": "0-3" for name in ("package_cpus_list", "cluster_cpus_list")}
            files |= {
                f"{cpus}/cpu{core}/topology/core_id": f"{core}",
                f"{cpus}/cpu{core}/topology/core_cpus_list": f"{core}",
            }
            files |= {f"{cpus}/cpu{core}/topology/physical_package_id": "0"}
            files |= {f"{cpus}/cpu{core}/regs/identification/midr_el1": "0x00000000410fd083"}
            caches = (
                ("Data", "1", "32K", f"{core}"),
                ("Instruction", "1", "48K", f"{core}"),
                ("Unified", "2", "1024K", "0-3"),
            )
            for at, cache in enumerate(caches):
                names = ("type", "level", "size", "shared_cpu_list")
                files |= {
                    f"{cpus}/cpu{core}/cache/index{at}/{name}": value for name, value in zip(names, cache, strict=True)
                }
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(f"{text}\n", encoding="utf-8")

    def python(self, *arguments: str | Path, stdin: str = "", until: str = "") -> str:
        """Run Python in the root and return its output. Raises RuntimeError if it fails.

        It is terminated once a line of its output contains `until`.
        """
        python = f"python{PYTHON[self.target.dist]}"
        command = [
            "qemu-aarch64-static",
            "-cpu",
            "cortex-a72",
            "-L",
            self.root,
            self.root / "usr/bin" / python,
            *arguments,
        ]
        environment = os.environ | {"PYTHONPATH": str(self.root / self.target.site), "SDL_VIDEODRIVER": "dummy"}
        with subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:  # fmt: skip
            assert process.stdin is not None  # noqa: S101 - for mypy
            assert process.stdout is not None  # noqa: S101 - for mypy
            process.stdin.write(stdin)
            process.stdin.close()
            output = []
            for line in process.stdout:
                output.append(line)
                if until and until in line:
                    process.terminate()
        if process.returncode != 0:
            raise RuntimeError(f"ended with {process.returncode}: {''.join(output[-5:])}")
        return "".join(output)

    def homologue(self, *arguments: str | Path, stdin: str = "", until: str = "") -> str:
        """Run the command `homologue` in the root; return its output."""
        return self.python(self.root / PREFIX / "bin" / "homologue", *arguments, stdin=stdin, until=until)


def serials(line: str) -> list[tuple[object, ...]]:
    """Return the reads in order, with confidences rounded, since processors round differently."""
    reads = json.loads(line)["reads"]
    return [(read["serial"], read["row"], read["col"], read["face_up"], round(read["confidence"], 2)) for read in reads]


def check_same(emulated: str, native: str) -> None:
    """Raise RuntimeError if two outputs differ."""
    if emulated != native:
        raise RuntimeError(f"{emulated!r} in the emulator, {native!r} here")


def run_here(*arguments: str | Path, stdin: str = "") -> str:
    """Run the command `homologue` on this machine; return its output."""
    command = [Path(sys.executable).with_name("homologue"), *arguments]
    return subprocess.run(command, input=stdin, stdout=subprocess.PIPE, text=True, check=True).stdout


def checks(emulator: Emulated, folder: Path) -> dict[str, Callable[[], None]]:
    """Return the checks by name. Each raises RuntimeError if it fails."""
    hand, riichi = json.dumps(HAND | {"prevalent_wind": "east"}), json.dumps(HAND | {"round_wind": "east"})

    def read() -> None:
        emulated, native = (run_it("read", PHOTO, "--json") for run_it in (emulator.homologue, run_here))
        check_same(str(serials(emulated.splitlines()[-1])), str(serials(native)))

    def journal() -> None:
        check_same(emulator.python("-c", JOURNAL, folder).split()[-1], "True")

    return {
        "imports": lambda: print(f"  onnxruntime {emulator.python('-c', IMPORTS).split()[-1]}"),
        "fan": lambda: check_same(
            emulator.homologue("fan", "--json", stdin=hand), run_here("fan", "--json", stdin=hand)
        ),
        "riichi": lambda: check_same(
            emulator.homologue("riichi", "--json", stdin=riichi), run_here("riichi", "--json", stdin=riichi)
        ),
        "read": read,
        "journal": journal,
        "practice": lambda: print(
            "  " + emulator.homologue("kiosk", "--practice", until="state=restoring").splitlines()[-1]
        ),
    }


def main() -> None:
    """Run all checks; exit with 1 if any fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dist", choices=PYTHON, default="trixie")
    emulator = Emulated(parser.parse_args().dist)
    emulator.prepare()
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        all_checks = checks(emulator, Path(folder))
        for name, check in all_checks.items():
            began = time.monotonic()
            try:
                check()
            except RuntimeError as error:
                print(f"{name}: FAILED: {error}")
                continue
            passed += 1
            print(f"{name}: passed, {time.monotonic() - began:.0f} s")
    print(f"arm64: {len(all_checks)} checks, {passed} passed")
    sys.exit(0 if passed == len(all_checks) else 1)


if __name__ == "__main__":
    main()
