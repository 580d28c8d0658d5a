"""`homologue people`: accounts of the desk, from the machine on which the event's folder lies."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from broker.errors import StoreError
from broker.people import (
    FACES_SHOWN,
    PEOPLE_FILE,
    ROLES,
    TOKEN_RIGHTS,
    Actor,
    AuditEntry,
    Authentication,
    PeopleError,
    audit_line,
    time_text,
)
from broker.rules import RuleError
from broker.store import database_of

COMMAND_ACTOR: Final = Actor("(command)")
"""Who may read the folder may do all this; the audit log says that it was done here."""

folder = click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
stdin = click.option("--password-stdin", is_flag=True, help="Read the password from standard input, one line.")


class _Refusing(click.Group):
    """A group whose refusals are told by code and sentence; exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's way
        """Run the command."""
        os.umask(0o077)  # names and hashes are nobody else's
        try:
            return super().invoke(ctx)
        except PeopleError as refusal:
            click.echo(f"{ctx.command_path}: {refusal.code}: {refusal}", err=True)
            ctx.exit(1)


def note_faces_shown(folder: Path, about: str) -> None:
    """Note that somebody is given faces, in the audit log of an event that has one. Raises RuleError."""
    note_command(folder, FACES_SHOWN, about)


def note_command(folder: Path, action: str, about: str, detail: str = "") -> None:
    """Note what a command does, in the audit log of an event that has one: arbiters are told. Raises RuleError."""
    try:
        if database_of(folder) is None and not (folder / PEOPLE_FILE).exists():
            return
        with _auth(folder) as auth:
            auth.audit.note(auth.clock(), COMMAND_ACTOR.who, action, about, detail)
    except (PeopleError, StoreError) as error:
        raise RuleError(error.code, str(error)) from None


@click.group(cls=_Refusing, short_help="Accounts of the desk: add, list, disable, new password; the audit log.")
def people() -> None:
    """Manage the accounts of an event's desk. FOLDER is the event's folder; the scorer may be running.

    Roles: head_arbiter, table_arbiter, organiser, display (docs/arbiter.md says what each may do).

    \b
    homologue people add my-cup anne --full "Anne Lefèvre" --role head_arbiter
    homologue people list my-cup
    homologue people audit my-cup --csv
    """


@people.command("add", short_help="Create an account.")
@folder
@click.argument("name")
@click.option("--full", required=True, help="The person's full name, shown with orders and rulings.")
@click.option("--role", type=click.Choice(ROLES), required=True)
@stdin
def add_account(folder: Path, name: str, full: str, role: str, password_stdin: bool) -> None:  # noqa: FBT001 - click's way
    """Create an account. You are asked for the password: it is never an argument, because other users could see it.

    \b
    homologue people add my-cup anne --full "Anne Lefèvre" --role table_arbiter
    """
    with _auth(folder) as auth:
        account = auth.accounts.add(name, full, role, _password(from_stdin=password_stdin), COMMAND_ACTOR)
    click.echo(f"{account.name}: {account.role}, {account.full}")


@people.command("list", short_help="List the accounts.")
@folder
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def list_accounts(folder: Path, as_json: bool) -> None:  # noqa: FBT001 - click's way
    """List all accounts, including disabled ones.

    \b
    homologue people list my-cup
    """
    with _auth(folder) as auth:
        for one in auth.accounts.all():
            sessions = len(auth.sessions.of(one.name))
            row = {"name": one.name, "full": one.full, "role": one.role, "disabled": one.disabled, "sessions": sessions}
            state = "disabled" if one.disabled else f"{sessions} session{'s' * (sessions != 1)}"
            click.echo(
                json.dumps(row, ensure_ascii=False) if as_json else f"{one.name}\t{one.role}\t{state}\t{one.full}"
            )


@people.command("disable", short_help="Disable an account.")
@folder
@click.argument("name")
def disable_account(folder: Path, name: str) -> None:
    """Disable an account and end its sessions immediately. It stays in the list, because the audit log refers to it.

    \b
    homologue people disable my-cup anne
    """
    with _auth(folder) as auth:
        auth.accounts.disable(name, COMMAND_ACTOR)
    click.echo(f"{name}: disabled")


@people.command("enable", short_help="Enable an account again.")
@folder
@click.argument("name")
def enable_account(folder: Path, name: str) -> None:
    """Enable an account that was disabled.

    \b
    homologue people enable my-cup anne
    """
    with _auth(folder) as auth:
        auth.accounts.enable(name, COMMAND_ACTOR)
    click.echo(f"{name}: enabled")


@people.command("password", short_help="Set an account's password.")
@folder
@click.argument("name")
@stdin
def new_password(folder: Path, name: str, password_stdin: bool) -> None:  # noqa: FBT001 - click's way
    """Set an account's password and end its sessions.

    \b
    homologue people password my-cup anne
    """
    with _auth(folder) as auth:
        auth.accounts.get(name)
        auth.accounts.set_password(name, _password(from_stdin=password_stdin), COMMAND_ACTOR)
    click.echo(f"{name}: new password")


@people.group("token", short_help="Tokens by which other programs read.")
def token() -> None:
    """Manage the tokens by which other programs read an event (docs/api.md).

    \b
    homologue people token add my-cup scoreboard --role public
    homologue people token list my-cup
    homologue people token revoke my-cup scoreboard
    """


@token.command("add", short_help="Make a token.")
@folder
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(list(TOKEN_RIGHTS)),
    required=True,
    help="public: what everybody may know; arbiter: embargoed results too; monitor: /metrics alone.",
)
def add_token(folder: Path, name: str, role: str) -> None:
    """Make a token and print it. It is shown this once: only its hash is stored.

    \b
    homologue people token add my-cup grafana --role monitor > grafana.token
    """
    with _auth(folder) as auth:
        click.echo(auth.tokens.add(name, role, COMMAND_ACTOR))


@token.command("list", short_help="List the tokens.")
@folder
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def list_tokens(folder: Path, as_json: bool) -> None:  # noqa: FBT001 - click's way
    """List all tokens, revoked ones too, with when each was used last.

    \b
    homologue people token list my-cup
    """
    with _auth(folder) as auth:
        for one in auth.tokens.all():
            used = f"used {time_text(one.used_at)}" if one.used_at else "never used"
            state = "revoked" if one.revoked else used
            click.echo(json.dumps(asdict(one)) if as_json else f"{one.name}\t{one.role}\t{state}")


@token.command("revoke", short_help="Revoke a token.")
@folder
@click.argument("name")
def revoke_token(folder: Path, name: str) -> None:
    """Revoke a token: from the next request on it opens nothing.

    \b
    homologue people token revoke my-cup scoreboard
    """
    with _auth(folder) as auth:
        auth.tokens.revoke(name, COMMAND_ACTOR)
    click.echo(f"{name}: revoked")


@people.group("webhook", short_help="Addresses that are told the final results.")
def webhook() -> None:
    """Manage the addresses that are told the final results by a signed POST (docs/api.md).

    \b
    homologue people webhook add my-cup federation https://results.example.org/hook
    homologue people webhook list my-cup
    """


@webhook.command("add", short_help="Register an address.")
@folder
@click.argument("name")
@click.argument("url")
@click.option("--inner", is_flag=True, help="Allow an address in a private network.")
def add_webhook(folder: Path, name: str, url: str, inner: bool) -> None:  # noqa: FBT001 - click's way
    """Register an address and print the secret that signs what is sent there. It is shown this once.

    URL begins with https://, or is this machine's own (http://127.0.0.1:PORT/).

    \b
    homologue people webhook add my-cup federation https://results.example.org/hook
    """
    with _auth(folder) as auth:
        click.echo(auth.webhooks.add(name, url, COMMAND_ACTOR, inner=inner))


@webhook.command("list", short_help="List the addresses.")
@folder
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def list_webhooks(folder: Path, as_json: bool) -> None:  # noqa: FBT001 - click's way
    """List all addresses, and whether each was told.

    \b
    homologue people webhook list my-cup
    """
    with _auth(folder) as auth:
        for one in auth.webhooks.all():
            state = "waiting" if one.delivery else "failed" if one.failure else "told" if one.seen else "nothing yet"
            row = {"name": one.name, "url": one.url, "state": state, "tries": one.tries, "failure": one.failure}
            click.echo(json.dumps(row) if as_json else "\t".join(map(str, row.values())))


@webhook.command("remove", short_help="Remove an address.")
@folder
@click.argument("name")
def remove_webhook(folder: Path, name: str) -> None:
    """Remove an address: it is told nothing any more.

    \b
    homologue people webhook remove my-cup federation
    """
    with _auth(folder) as auth:
        auth.webhooks.remove(name, COMMAND_ACTOR)
    click.echo(f"{name}: removed")


@people.command("audit", short_help="Check and export the audit log.")
@folder
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of JSON lines.")
def export_audit(folder: Path, as_csv: bool) -> None:  # noqa: FBT001 - click's way
    """Print the audit log: who did what, when and from where, oldest first.

    Each entry's digest covers all earlier ones. If an entry was changed, removed or inserted, the output stops before
    it with an error (`audit_broken`).

    \b
    homologue people audit my-cup --csv > audit.csv
    """
    with _auth(folder) as auth:
        if as_csv:
            click.echo(",".join(AuditEntry._fields))
        for entry in auth.audit.checked():
            click.echo(audit_line(entry, as_csv=as_csv), nl=False)


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True))


@contextmanager
def _auth(folder: Path) -> Iterator[Authentication]:
    auth = Authentication(folder)
    try:
        yield auth
    finally:
        auth.store.close()  # the link of a desk that is starting stays
