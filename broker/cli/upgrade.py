"""`homologue upgrade`: make a bundle of another version, and add it to an event, from which tables download it."""

from pathlib import Path
from typing import Final

import click

from broker.console import EXISTING_FILE, EXISTING_FOLDER, FILE, json_lines, say
from broker.files import refuse_no_event
from broker.protocol import SigningKey, open_key
from broker.upgrade.bundle import (
    EVENT_SUBFOLDER,
    HALL_KEYS,
    UpgradeError,
    import_bundle,
    make_bundle,
    read_bundle,
    trusted_keys,
)

KEYS: Final = click.option(
    "--keys",
    type=FILE,
    default=HALL_KEYS,
    show_default=True,
    help="Public keys that are trusted in addition to the release's.",
)


@click.group(short_help="Bring another version of the program to the tables.")
def upgrade() -> None:
    """Make a bundle of another version, and add it to an event, from which tables download it (docs/upgrade.md)."""


@upgrade.command("key")
@click.argument("file", type=FILE)
@json_lines
def key(file: Path) -> None:
    """Print the public key of the private key in FILE, which is created if it is missing.

    Whoever has the private key decides what tables run. Tables trust the public key once it is in their
    /etc/homologue/upgrade.keys.
    """
    public = _key(file).public
    say(public, key=public)


@upgrade.command("bundle", short_help="Make a bundle of the packages of one version.")
@click.argument("debs", type=EXISTING_FILE, nargs=-1, required=True)
@click.option("--key", "key_file", type=EXISTING_FILE, required=True, help="Private key to sign it with.")
@click.option("--output", type=FILE, help="Bundle to write [default: homologue-VERSION.upgrade].")
@json_lines
def bundle(debs: tuple[Path, ...], key_file: Path, output: Path | None) -> None:
    """Make a bundle of the packages of one version, for all Debian releases and architectures that tables have.

    Tables install homologue-common and homologue-table from it.
    """
    new = output or Path("homologue.upgrade")
    manifest = make_bundle(debs, _key(key_file), new)
    if output is None:
        new = new.replace(Path(f"homologue-{manifest.version}.upgrade"))
    targets = sorted({part.target for part in manifest.parts})
    say(
        f"{new}: version {manifest.version} for {', '.join(targets)}, {new.stat().st_size / 1e6:.0f} MB",
        bundle=new,
        version=manifest.version,
        targets=targets,
    )


@upgrade.command("check")
@click.argument("file", type=EXISTING_FILE)
@KEYS
@json_lines
def check(file: Path, keys: Path) -> None:
    """Check that a bundle is complete and signed by a key that is trusted here, and list what is in it."""
    signed, manifest = read_bundle(file, trusted_keys(keys))
    for part in manifest.parts:
        say(
            f"{part.package} for {part.target}: {part.size / 1e6:.0f} MB, {part.unpacked / 1e6:.0f} MB installed",
            package=part.package,
            target=part.target,
            sha256=part.sha256,
        )
    say(
        f"Version {manifest.version} ({manifest.commit}), signed by {signed.key}. It opens tables' journals "
        f"{', '.join(manifest.journal.opens)} and stores {', '.join(manifest.store.opens)}.",
        version=manifest.version,
        commit=manifest.commit,
        key=signed.key,
        journals=manifest.journal.opens,
        stores=manifest.store.opens,
    )


@upgrade.command("take")
@click.argument("file", type=EXISTING_FILE)
@click.argument("event", type=EXISTING_FOLDER)
@KEYS
@json_lines
def take(file: Path, event: Path, keys: Path) -> None:
    """Add a bundle to EVENT, replacing an earlier one. The head arbiter then offers it to tables under Devices."""
    refuse_no_event(event)
    trusted = trusted_keys(keys)
    manifest = import_bundle(file, event / EVENT_SUBFOLDER, trusted).verify(trusted)
    say(
        f"Version {manifest.version} was added: the head arbiter can now offer it to tables (Orders, Devices).",
        version=manifest.version,
    )


def _key(file: Path) -> SigningKey:
    try:
        return open_key(file)
    except ValueError:
        raise UpgradeError("upgrade_unsigned", f"{file} contains no private key") from None
