"""The database of the centre: two real servers of PostgreSQL, of which one follows the other and is promoted."""

from pathlib import Path

from tests.broker.store.server import OWNER, PASSWORD, Server


class Database:
    """A primary, and a replica that has what the primary has confirmed."""

    def __init__(self, folder: Path) -> None:
        """`folder`: where the password is written."""
        self.primary = Server()
        self.replica = Server(self.primary)
        self.primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.ask("SELECT pg_reload_conf()")
        name = self.primary.database()
        hosts = f"host={self.primary.folder},{self.replica.folder}&target_session_attrs=read-write"
        self.address = f"postgresql://{OWNER}@/{name}?{hosts}"
        self.password = folder / "database.password"
        self.password.touch(0o600)
        self.password.write_text(PASSWORD, encoding="utf-8")

    def lose_primary(self) -> None:
        """Kill the primary, as a power cut would, and promote the replica."""
        self.primary.crash()
        self.replica.ask("SELECT pg_promote()")

    def close(self) -> None:
        """End both."""
        self.replica.close()
        self.primary.close()
