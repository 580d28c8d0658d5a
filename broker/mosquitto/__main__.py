"""`python -m broker.mosquitto`: make everything that the hall's Mosquitto needs for one event."""

import shutil
from pathlib import Path

import click

from broker.child.settings import Settings, Tls
from broker.credentials import Credentials
from broker.errors import BrokerError
from broker.mosquitto.configuration import write_all

READABLE = click.Path(exists=True, dir_okay=False, resolve_path=True, path_type=Path)
FOLDER = click.Path(file_okay=False, resolve_path=True, path_type=Path)


@click.command(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--event", required=True, help="Name of the event, as in its topics.")
@click.option("--tables", required=True, type=int, help="Number of tables.")
@click.option("--folder", required=True, type=FOLDER, help="Where configuration, ACL and password hashes go.")
@click.option("--store", required=True, type=FOLDER, help="Where Mosquitto keeps sessions and retained messages.")
@click.option(
    "--passwords", required=True, type=click.Path(path_type=Path), help="The event's credentials; made if absent."
)
@click.option("--certificate", required=True, type=READABLE, help="The broker's certificate (PEM).")
@click.option("--key", required=True, type=READABLE, help="The certificate's key (PEM).")
@click.option("--authority", required=True, type=READABLE, help="Certificate of the own authority (PEM).")
@click.option("--host", default="0.0.0.0", show_default=True, help="Address to listen on.")  # noqa: S104 - a hall's broker serves the hall, with TLS and passwords
@click.option("--port", default=8883, show_default=True, type=click.IntRange(1, 65_535))
@click.option("--owner", help="User that Mosquitto runs as; the files become his.")
def main(  # noqa: PLR0913 - one parameter an option
    *,
    event: str,
    tables: int,
    folder: Path,
    store: Path,
    passwords: Path,
    certificate: Path,
    key: Path,
    authority: Path,
    host: str,
    port: int,
    owner: str | None,
) -> None:
    """Write homologue.conf, acl and passwords for one event. Run again it gives out no new passwords."""
    try:
        settings = Settings(
            folder=folder,
            event=event,
            credentials=Credentials.ensure(passwords, tables),
            tables=tables,
            host=host,
            port=port,
            tls=Tls(certificate=certificate, key=key, authority=authority),
        )
        path = write_all(settings, port, store, owner=owner)
        if owner is not None:
            for each in (folder, *(folder / name for name in ("acl", "passwords", path.name)), store):
                shutil.chown(each, owner)
    except BrokerError as error:
        raise click.ClickException(f"{error.code}: {error}") from error
    except (OSError, LookupError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"Wrote {path}. Start it with: mosquitto -c {path}")


if __name__ == "__main__":
    main()
