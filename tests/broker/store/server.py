"""A PostgreSQL server for tests: in a temporary folder, on a Unix socket, with passwords, ended by its process id."""

import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

import psycopg

from tests.patience import PATIENCE_S

OWNER: Final = "homologue"

PASSWORD: Final = "a secret: 'with' \"signs\" \\ in it"


UNPRIVILEGED: Final = "nobody"
"""The user that runs the server if the tests run as root, which PostgreSQL refuses."""


def program(name: str) -> str:
    """Find a program of PostgreSQL, the newest version if Debian has it outside the path."""
    debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    found = shutil.which(name) or (str(debian[-1]) if debian else None)
    assert found, f"{name} is not installed: tests/install-system-packages"
    return found


def _place_for_all() -> Path:
    """Return the folder for temporary files, or the usual one if a user without rights cannot enter it."""
    places = Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")
    return next((one for one in places if _entered_by_all(one)), places[0])


def _entered_by_all(folder: Path) -> bool:
    return all(one.stat().st_mode & stat.S_IXOTH for one in (folder, *folder.absolute().parents))


class Server:
    """A server that can be killed and started again on the same files."""

    def __init__(self, primary: "Server | None" = None) -> None:
        """With a `primary`, the server is its replica until it is promoted."""
        self.folder = Path(tempfile.mkdtemp(prefix="hm-pg-", dir=_place_for_all()))
        (self.folder / "password").write_text(PASSWORD, encoding="utf-8")
        self._user: list[str] = []
        if os.geteuid() == 0:
            self._user = ["setpriv", "--reuid", UNPRIVILEGED, "--regid", "nogroup", "--clear-groups"]
            for path in (self.folder, self.folder / "password"):
                shutil.chown(path, UNPRIVILEGED, "nogroup")
        self._made = 0
        where = ["--pgdata", str(self.folder / "data"), "--no-sync"]
        settings = ["--username", OWNER, "--pwfile", str(self.folder / "password"), "--auth", "scram-sha-256"]
        make = [program("initdb"), *settings, "--encoding", "UTF8", "--locale", "C"]
        if primary:
            make = [program("pg_basebackup"), "--host", str(primary.folder), "--username", OWNER, "-R", "-c", "fast"]
        known = os.environ | {"PGPASSWORD": PASSWORD}
        made = subprocess.run(
            [*self._user, *make, *where], check=False, capture_output=True, text=True, cwd=self.folder, env=known
        )
        assert made.returncode == 0, made.stdout + made.stderr
        self.start()

    def start(self, *options: str) -> None:
        """Start the server, and wait until it accepts clients."""
        # pdeathsig: it ends with the tests, even if they are killed.
        leash = ["setpriv", "--pdeathsig", "QUIT"]
        settings = ["-c", "listen_addresses=", "-k", str(self.folder), "-c", "max_connections=30", *options]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*self._user, *leash, program("postgres"), "-D", str(self.folder / "data"), *settings],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        pause, deadline = 0.02, time.monotonic() + PATIENCE_S
        while not self._lets_in():
            assert time.monotonic() < deadline, (self.folder / "log").read_text(encoding="utf-8")[-2000:]
            assert self._process.poll() is None, (self.folder / "log").read_text(encoding="utf-8")[-2000:]
            time.sleep(pause)  # a real process has no event to wait on for its readiness

    def _lets_in(self) -> bool:
        try:
            self.ask("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True

    def ask(self, query: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run a statement as the owner of the server."""
        with psycopg.connect(
            host=str(self.folder), user=OWNER, password=PASSWORD, dbname=database, autocommit=True
        ) as connection:
            done = connection.execute(query)
            return list(done.fetchall()) if done.description else []

    @property
    def quoted(self) -> str:
        """The password of every user here, quoted for SQL."""
        return PASSWORD.replace("'", "''")

    def database(self) -> str:
        """Create a database. Return its name."""
        self._made += 1
        self.ask(f"CREATE DATABASE test_{self._made}")
        return f"test_{self._made}"

    def address(self, database: str) -> str:
        """Return the address of a database, without a password."""
        return f"postgresql://{OWNER}@/{database}?host={self.folder}"

    def stop(self, number: int = signal.SIGINT) -> None:
        """End the server by its process id: SIGINT closes all sessions, SIGQUIT is a power cut."""
        if self._process.poll() is None:
            self._process.send_signal(number)
        self._process.wait(PATIENCE_S)

    def crash(self) -> None:
        """End the server with all its processes, as a power cut would."""
        self.stop(signal.SIGQUIT)

    def close(self) -> None:
        """End the server and remove its files."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)
