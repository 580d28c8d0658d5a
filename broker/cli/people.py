"""`homologue event people`: manages the desk's accounts, on the machine that has the event's folder."""

import os
import sys
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click

from broker.cli import options
from broker.console import amount, json_lines, say
from broker.errors import RuleError, StoreError
from broker.files import PEOPLE_FILE, write_export
from broker.people import ROLES, Actor, AuditEntry, Authentication, PeopleError, accounts, login, programs
from broker.spreadsheet import for_excel
from broker.store import database_of

COMMAND_ACTOR: Final = Actor("(command)")
"""Actor of everything that commands note in the audit log. They need no login: reading the folder is enough."""

stdin = click.option("--password-stdin", is_flag=True, help="Read the password from standard input, one line.")


def note_faces_shown(folder: Path, about: str) -> None:
    """Note in the event's audit log, if it has one, that a command showed faces. Raises RuleError."""
    note_command(folder, accounts.FACES_SHOWN, about)


def note_command(folder: Path, action: str, about: str, detail: str = "") -> None:
    """Note a command's action in the event's audit log, if it has one, which alerts arbiters. Raises RuleError."""
    try:
        if database_of(folder) is None and not (folder / PEOPLE_FILE).exists():
            return
        with closing(Authentication(folder)) as auth:
            auth.audit.note(auth.clock(), COMMAND_ACTOR.who, action, about, detail)
    except (PeopleError, StoreError) as error:
        raise RuleError(error.code, str(error)) from None


@click.group(short_help="Manage the desk's accounts; show the audit log.")
def people() -> None:
    """Manage the accounts of an event's desk. FOLDER is the event's folder; the scorer may be running.

    Roles: head_arbiter, table_arbiter, organiser, display (docs/arbiter.md says what each may do).

    \b
    homologue event people add my-cup anne --full "Anne Lefèvre" --role head_arbiter
    homologue event people list my-cup
    homologue event people audit my-cup --csv
    """
    os.umask(0o077)  # names and hashes are for this user only


@people.command("add", short_help="Create an account.")
@options.event_folder_argument
@click.argument("name")
@click.option("--full", required=True, help="The person's full name, shown with orders and rulings.")
@click.option("--role", type=click.Choice(ROLES), required=True, help="What the account may do.")
@stdin
@json_lines
def add_account(*, folder: Path, name: str, full: str, role: str, password_stdin: bool) -> None:
    """Create an account. You are asked for the password: it is never an argument, because other users could see it.

    \b
    homologue event people add my-cup anne --full "Anne Lefèvre" --role table_arbiter
    """
    with closing(Authentication(folder)) as auth:
        account = auth.accounts.add(name, full, role, _password(from_stdin=password_stdin), COMMAND_ACTOR)
    say(f"{account.name}: {account.role}, {account.full}", name=account.name, role=account.role, full=account.full)


@people.command("list", short_help="List the accounts.")
@options.event_folder_argument
@json_lines
def list_accounts(folder: Path) -> None:
    """List all accounts, including disabled ones.

    \b
    homologue event people list my-cup
    """
    with closing(Authentication(folder)) as auth:
        for one in auth.accounts.all():
            sessions = len(auth.sessions.of(one.name))
            row = {"name": one.name, "full": one.full, "role": one.role, "disabled": one.disabled, "sessions": sessions}
            state = "disabled" if one.disabled else amount(sessions, "session")
            say(f"{one.name}\t{one.role}\t{state}\t{one.full}", **row)


@people.command("disable", short_help="Disable an account.")
@options.event_folder_argument
@click.argument("name")
@json_lines
def disable_account(folder: Path, name: str) -> None:
    """Disable an account and end its sessions immediately. It stays in the list, because the audit log refers to it.

    \b
    homologue event people disable my-cup anne
    """
    with closing(Authentication(folder)) as auth:
        auth.accounts.disable(name, COMMAND_ACTOR)
    say(f"{name}: disabled", name=name, disabled=True)


@people.command("enable", short_help="Enable an account again.")
@options.event_folder_argument
@click.argument("name")
@json_lines
def enable_account(folder: Path, name: str) -> None:
    """Enable an account that was disabled.

    \b
    homologue event people enable my-cup anne
    """
    with closing(Authentication(folder)) as auth:
        auth.accounts.enable(name, COMMAND_ACTOR)
    say(f"{name}: enabled", name=name, disabled=False)


@people.command("password", short_help="Set an account's password.")
@options.event_folder_argument
@click.argument("name")
@stdin
@json_lines
def new_password(*, folder: Path, name: str, password_stdin: bool) -> None:
    """Set an account's password and end its sessions.

    \b
    homologue event people password my-cup anne
    """
    with closing(Authentication(folder)) as auth:
        auth.accounts.get(name)
        auth.accounts.set_password(name, _password(from_stdin=password_stdin), COMMAND_ACTOR)
    say(f"{name}: new password", name=name)


@people.group("token", short_help="Manage the tokens of other programs.")
def token() -> None:
    """Manage the tokens with which other programs read an event (docs/api.md).

    \b
    homologue event people token add my-cup scoreboard --role public
    homologue event people token list my-cup
    homologue event people token revoke my-cup scoreboard
    """


@token.command("add", short_help="Create a token.")
@options.event_folder_argument
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(list(programs.TOKEN_RIGHTS)),
    required=True,
    help="public: what everybody may know; arbiter: embargoed results too; monitor: only /metrics.",
)
@json_lines
def add_token(folder: Path, name: str, role: str) -> None:
    """Create a token and print it. It is shown only this once, because only its hash is stored.

    \b
    homologue event people token add my-cup grafana --role monitor > grafana.token
    """
    with closing(Authentication(folder)) as auth:
        secret = auth.tokens.add(name, role, COMMAND_ACTOR)
    say(secret, name=name, role=role, token=secret)


@token.command("list", short_help="List the tokens.")
@options.event_folder_argument
@json_lines
def list_tokens(folder: Path) -> None:
    """List all tokens, including revoked ones, and when each was last used.

    \b
    homologue event people token list my-cup
    """
    with closing(Authentication(folder)) as auth:
        for one in auth.tokens.all():
            used = f"used {accounts.time_text(one.used_at)}" if one.used_at else "never used"
            state = "revoked" if one.revoked else used
            say(f"{one.name}\t{one.role}\t{state}", **asdict(one))


@token.command("revoke", short_help="Revoke a token.")
@options.event_folder_argument
@click.argument("name")
@json_lines
def revoke_token(folder: Path, name: str) -> None:
    """Revoke a token. It is refused from the next request on.

    \b
    homologue event people token revoke my-cup scoreboard
    """
    with closing(Authentication(folder)) as auth:
        auth.tokens.revoke(name, COMMAND_ACTOR)
    say(f"{name}: revoked", name=name, revoked=True)


@people.group("webhook", short_help="Manage addresses that receive the final results.")
def webhook() -> None:
    """Manage the addresses that receive the final results as a signed POST (docs/api.md).

    \b
    homologue event people webhook add my-cup federation https://results.example.org/hook
    homologue event people webhook list my-cup
    """


@webhook.command("add", short_help="Register an address.")
@options.event_folder_argument
@click.argument("name")
@click.argument("url")
@click.option("--inner", is_flag=True, help="Allow an address in a private network.")
@json_lines
def add_webhook(*, folder: Path, name: str, url: str, inner: bool) -> None:
    """Register an address and print the secret that signs what is sent there. It is shown only this once.

    URL must begin with https://, or be on this machine (http://127.0.0.1:PORT/).

    \b
    homologue event people webhook add my-cup federation https://results.example.org/hook
    """
    with closing(Authentication(folder)) as auth:
        secret = auth.webhooks.add(name, url, COMMAND_ACTOR, inner=inner)
    say(secret, name=name, url=url, secret=secret)


@webhook.command("list", short_help="List the addresses.")
@options.event_folder_argument
@json_lines
def list_webhooks(folder: Path) -> None:
    """List all addresses, and whether each has been notified.

    \b
    homologue event people webhook list my-cup
    """
    with closing(Authentication(folder)) as auth:
        for one in auth.webhooks.all():
            row = {"name": one.name, "url": one.url, "state": one.state, "tries": one.tries, "failure": one.failure}
            say("\t".join(map(str, row.values())), **row)


@webhook.command("remove", short_help="Remove an address.")
@options.event_folder_argument
@click.argument("name")
@json_lines
def remove_webhook(folder: Path, name: str) -> None:
    """Remove an address, so that it is no longer notified.

    \b
    homologue event people webhook remove my-cup federation
    """
    with closing(Authentication(folder)) as auth:
        auth.webhooks.remove(name, COMMAND_ACTOR)
    say(f"{name}: removed", name=name, removed=True)


@people.command("audit", short_help="Check and export the audit log.")
@options.event_folder_argument
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of JSON lines.")
@options.excel_option
def export_audit(folder: Path, *, as_csv: bool, excel: bool) -> None:
    """Print the audit log: who did what, when and from where, oldest first.

    Each entry's digest covers all earlier ones. If an entry was changed, removed or inserted, or the file that lists
    all digests (people.witness) is gone, the output stops there with an error (`audit_broken`).

    \b
    homologue event people audit my-cup --csv > audit.csv
    """
    with closing(Authentication(folder)) as auth:
        if as_csv or excel:
            _print_csv(",".join(AuditEntry._fields) + "\n", excel=excel)
        for entry in auth.audit.checked():
            if as_csv or excel:
                _print_csv(accounts.audit_line(entry, as_csv=True), excel=excel)
            else:
                click.echo(accounts.audit_line(entry, as_csv=False), nl=False)


def _print_csv(line: str, *, excel: bool) -> None:
    head = line.startswith(AuditEntry._fields[0])
    write_export(for_excel(line, begins=head) if excel else line, None, source=None, force=False)


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True))


def show_first_link(auth: Authentication, url: str, event: Path, *, open_room: bool) -> None:
    """Print how to create the first head arbiter. The link itself is printed to a terminal only, never to a log."""
    link = auth.first_link(url)
    if link is None:
        return
    shown = link if sys.stdout.isatty() else f"the link in {event / login.FIRST_LINK_FILE}"
    seen = "everybody on this machine sees the page" if open_room else "the page shows nothing"
    click.echo(
        f"No accounts yet: {seen}, and nobody can give orders. Create the first head arbiter within an hour: {shown}"
    )
