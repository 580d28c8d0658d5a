"""`homologue deal draw`, `seal`, `shares`, `recover`: deals that nobody has chosen, and nobody can read too early."""

import os
import secrets
from pathlib import Path
from typing import Final

import click
import msgspec
from shamir_mnemonic.wordlist import WORDLIST

from broker.cli import options
from broker.cli.people import note_faces_shown
from broker.console import FILE, FOLDER, amount, json_lines, language_option, say, working
from broker.errors import reason
from broker.event import DEALS, SETS, read_deals, read_registry, write_registry
from broker.event.deals import LAST_DEAL, LAST_SET, Opener, commitment, sealing
from broker.event.deals import draw as draws
from broker.event.readiness import start_problems
from broker.export.words_page import words_page
from broker.files import PRIVATE_FOLDER, make_folder, write_private
from broker.i18n import N_, Translator
from broker.protocol import Seat
from broker.rules import RuleError
from broker.rules.commitment import Announcement, Beacon, Contributor, check_words, normal_words, words_hash

LANGUAGE: Final = language_option("the page")

WORD_COUNT: Final = 13
"""Each of 1024 words: 130 bits, which nobody can guess."""


@click.group(name="draw", short_help="Draw deals from words of several people, so that nobody chooses them.")
def deal_draw() -> None:
    """Draw deals from secret words of several people: nobody can choose or know them, or draw twice unnoticed.

    \b
    homologue deal draw words
    homologue deal draw announce --event cup --deals 16 --person "Li Wei=HASH" --person "Anne=HASH" my-cup
    homologue deal draw make my-cup
    """


@deal_draw.command("words", short_help="Create your secret words for a draw, and their hash.")
@click.option("--own", is_flag=True, help="Type words of your own instead; only their hash is shown.")
@click.option("--output", type=FILE, help="PDF page to write with words and QR code, instead of showing them.")
@LANGUAGE
def draw_words(output: Path | None, language: str, *, own: bool) -> None:
    """Show words for you to write down and keep secret, and their hash, which is announced before the draw.

    Do this on your own machine. Hand in the hash, never the words.

    \b
    homologue deal draw words
    homologue deal draw words --output my-words.pdf
    homologue deal draw words --own
    """
    if output and output.exists():
        raise RuleError("file_exists", f"{output} already exists, perhaps with words whose hash was handed in")
    words = _prompt_secret("Your words") if own else " ".join(secrets.choice(WORDLIST) for _ in range(WORD_COUNT))
    if output:
        _ = Translator(language)
        notes = (_("Keep them to yourself. At the draw you type them, or scan the code."), words_hash(words))
        write_private(output, words_page(_("Your words for the draw"), notes, words, language))
    elif not own:
        click.echo(f"Write these words down and show them to nobody before the draw:\n\n  {words}\n")
    click.echo(f"Hand in this hash of them:\n\n  {words_hash(words)}")


def _prompt_secret(what: str) -> str:
    """Prompt for secret words without echo, to be typed or scanned."""
    return normal_words(str(click.prompt(what, hide_input=True)))


def _people(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[Contributor, ...]:
    try:
        parts = [one.rpartition("=") for one in values]
        return tuple(
            msgspec.convert({"name": name.strip(), "words": of.strip().lower()}, Contributor) for name, _, of in parts
        )
    except msgspec.ValidationError:
        raise click.BadParameter("a person is given as NAME=HASH, with 64 hexadecimal digits") from None


@deal_draw.command("announce", short_help="Announce a draw: publish this before anybody enters their words.")
@options.new_folder_argument
@options.event_option
@click.option("--deals", "count", type=click.IntRange(1, LAST_DEAL), required=True, help="Number of deals.")
@click.option(
    "--person",
    "people",
    metavar="NAME=HASH",
    multiple=True,
    required=True,
    callback=_people,
    help="Person who gives words, and their hash; once for each person.",
)
@click.option(
    "--beacon",
    metavar="SOURCE ROUND",
    nargs=2,
    help="A public value that nobody can know yet: where it will be published, and which one is used.",
)
@options.winds_option
@options.dealers_option
@options.sets_option
@options.red_fives_option
@click.option(
    "--seal-for",
    metavar="KEY",
    help="Public key of the scorer's machine, if that is another one (`homologue deal key`).",
)
@json_lines
def draw_announce(  # noqa: PLR0913 - its options
    *,
    folder: Path,
    event: str | None,
    count: int,
    people: tuple[Contributor, ...],
    beacon: tuple[str, str] | None,
    prevalent_winds: tuple[Seat, ...],
    dealers: tuple[Seat, ...],
    set_numbers: tuple[int, ...],
    red: bool,
    seal_for: str | None,
) -> None:
    """Announce a draw. Publish the output before anybody enters their words. draws.json lists all draws.

    \b
    homologue deal draw announce --event cup --deals 16 --person "Li Wei=HASH" --person "Anne=HASH" \\
        --beacon "drand quicknet" 12345678 my-cup
    """
    request = draws.DrawRequest(
        event=commitment.resolve_event_name(folder, event),
        deals=count,
        prevalent_winds=prevalent_winds,
        dealers=dealers,
        people=people,
        sets=set_numbers,
        red_fives=red,
        beacon=_beacon(*beacon) if beacon else None,
    )
    draw = draws.announce_draw(folder, request, seal_for.strip().lower() if seal_for else None)
    say(announcement_lines(draw.announcement), draw=draw.announcement.number, hash=draw.announcement.hash)


def _beacon(source: str, round_: str) -> Beacon:
    try:
        return msgspec.convert({"source": source.strip(), "round": round_.strip()}, Beacon)
    except msgspec.ValidationError as error:
        raise click.BadParameter(reason(error)) from None


def announcement_lines(announced: Announcement) -> str:
    """Return the text of an announcement that is to be published."""
    names = ", ".join(person.name for person in announced.people)
    beacon = announced.beacon
    value = f" Public value: {beacon.source}, {beacon.round}." if beacon else ""
    return (
        f"Draw {announced.number} of {announced.event}: {amount(announced.deals, 'deal')}, words of {names}.{value}\n"
        f"Publish this, or {draws.DRAWS}, before anybody says their words: {announced.hash}"
    )


@deal_draw.command("make", short_help="Enter the words, and make and seal the deals of the draw.")
@options.folder_argument
@click.option("--beacon-value", default="", help="The public value that was announced.")
def draw_make(folder: Path, beacon_value: str) -> None:
    """Ask each person for their words (typed without echo, or scanned), then make, seal and commit to the deals.

    Words are not stored before they are sealed. If it is interrupted, run it again with the same words.

    \b
    homologue deal draw make my-cup --beacon-value 9f3c...
    """
    draw = draws.open_draw(folder)
    if draw is None:
        raise RuleError("no_draw", N_("no draw is open: announce one first"))
    words = [_prompt_words(person) for person in draw.announcement.people]
    with working("Making and sealing deals"):
        root = draws.make_drawn_deals(folder, words, beacon_value)
    click.echo(f"{amount(draw.announcement.deals, 'deal')} in {folder / 'deals.json'}: sealed.")
    click.echo(f"Publish {folder / commitment.COMMITMENT} before the event, or at least its root: {root}")
    click.echo(f"Now make shares of the key: homologue deal shares {folder} --people 5 --needed 3 --output shares")


def _prompt_words(person: Contributor) -> str:
    while True:
        words = _prompt_secret(f"Words of {person.name}")
        try:
            check_words(person, words)
        except RuleError as refusal:
            click.echo(str(refusal.text), err=True)
        else:
            return words


@deal_draw.command("give-up", short_help="Abandon the announced draw; it stays in the list.")
@options.folder_argument
@click.option("--reason", required=True, help="Why, for everybody to read.")
@json_lines
def draw_give_up(folder: Path, reason: str) -> None:
    """Abandon a draw whose words cannot be entered. It stays in draws.json with the reason, and keeps its number.

    \b
    homologue deal draw give-up my-cup --reason "Anne has lost her words"
    """
    draw = draws.give_up_draw(folder, reason)
    say(
        f"Draw {draw.announcement.number} is abandoned, and stays listed in {folder / draws.DRAWS}.",
        draw=draw.announcement.number,
        reason=reason,
    )


@click.command("key", short_help="Show the public key for deals that another machine seals.")
@options.new_folder_argument
@json_lines
def deal_key(folder: Path) -> None:
    """Show the public part of this folder's key for sealed deals. The key is created if there is none.

    Run this on the scorer's machine if another machine makes the deals, and pass the output there to `draw announce
    --seal-for` or `seal --for`. That machine can then seal deals, but not open them again.

    \b
    homologue deal key my-cup
    """
    make_folder(folder)
    public = sealing.ensure_key(folder).public
    say(public, key=public)


@click.command("seal", short_help="Encrypt the faces of deals and sets.")
@options.folder_argument
@click.option("--for", "public", metavar="KEY", help="Public key of the scorer's machine, if that is another one.")
@json_lines
def deal_seal(folder: Path, public: str | None) -> None:
    """Encrypt the faces in deals.json and sets.json. Print labels first: they need the faces.

    \b
    homologue deal seal my-cup
    """
    with working("Sealing deals"):
        count = sealing.seal_folder(folder, public.strip().lower() if public else None)
    say(f"{count} sealed." if count else "Everything is sealed already.", sealed=count)


@click.command("shares", short_help="Share the key for sealed deals among people.")
@options.folder_argument
@click.option(
    "--people", type=click.IntRange(2, sealing.MOST_SHARES), required=True, help="Number of people who get a share."
)
@click.option(
    "--needed",
    type=click.IntRange(2, sealing.MOST_SHARES),
    required=True,
    help="Number of shares that recover the key.",
)
@click.option("--output", type=FOLDER, required=True, help="Folder for the pages (PDF), one per person.")
@LANGUAGE
@json_lines
def deal_shares(folder: Path, people: int, needed: int, output: Path, language: str) -> None:
    """Write a page for each person with a share of the key, in words.

    --needed of them together recover the key; fewer reveal nothing.
    Print the files, give one to each person, and delete them.

    \b
    homologue deal shares my-cup --people 5 --needed 3 --output shares
    """
    if output.exists() and any(output.iterdir()):
        raise RuleError("folder_taken", f"{output} is not empty")
    made = sealing.make_shares(folder, people, needed)
    note_faces_shown(folder, f"key, {people} shares, {needed} needed")
    make_folder(output, PRIVATE_FOLDER)
    _, name = Translator(language), os.fsencode(folder.absolute().name).decode(errors="replace")
    notes = (
        _("Any {needed} shares together open the deals; this one alone reveals nothing.", needed=needed),
        _("Keep it to yourself. If you are asked for it: homologue deal recover, typed or scanned."),
    )
    for number, words in enumerate(made, 1):
        title = _("{folder}: share {number} of {people}", folder=name, number=number, people=people)
        write_private(output / f"share-{number:02}.pdf", words_page(title, notes, words, language))
    sealing.note_shares(folder, people, needed)
    say(
        f"{output}: {people} shares, of which {needed} are needed. Print them, hand them out, delete them.",
        folder=output,
        people=people,
        needed=needed,
    )


@click.command("recover", short_help="Recover the key for sealed deals from shares.")
@options.folder_argument
def deal_recover(folder: Path) -> None:
    """Ask for shares (typed without echo) until there are enough, and write the key into FOLDER.

    \b
    homologue deal recover my-cup
    """
    shares: list[str] = []
    needed = sealing.FEWEST_NEEDED
    while len(shares) < needed:
        share = _prompt_secret(f"Share {len(shares) + 1}")
        try:
            needed = sealing.check_share(share, shares)
        except RuleError as refusal:
            click.echo(str(refusal.text), err=True)
        else:
            shares.append(share)
    sealing.recover_key(folder, shares)
    opened = _count_openable(folder)
    click.echo(f"The key is in {folder / sealing.DEALS_KEY}; {opened} sealed deals open with it.")


def _count_openable(folder: Path) -> int:
    if not (folder / DEALS).exists():
        return 0
    commitment.refuse_altered_deals(folder)
    return sum(record.sealed is not None for record in read_deals(folder))


@click.command("open", short_help="Open sealed sets, to print their labels.")
@options.folder_argument
@click.option("--set", "numbers", metavar="NUMBERS", callback=options.parse_set_numbers, required=True,
              help="Number of the set, or several: 1-8,12.")  # fmt: skip
@click.option("--output", type=FOLDER, required=True, help="New folder for a sets.json that can be read.")
@json_lines
def set_open(folder: Path, numbers: tuple[int, ...], output: Path) -> None:
    """Write the faces of sealed sets into another folder, for `homologue labels`. Delete it after printing.

    \b
    homologue deal set open my-cup --set 1-8 --output to-print
    homologue labels --set 1 --registry to-print/sets.json --output labels.pdf
    """
    registry = read_registry(folder)
    if unknown := sorted(set(numbers) - set(registry)):
        raise RuleError("set_unknown", N_("there is no set {set}", set=unknown[0]))
    if (output / SETS).exists():
        raise RuleError("folder_taken", f"{output} is not empty")
    opened = Opener(folder).plain({number: registry[number] for number in sorted(set(numbers))})
    note_faces_shown(folder, f"set {', '.join(map(str, opened))}")
    make_folder(output, PRIVATE_FOLDER)
    write_registry(output, opened)
    say(
        f"{output / SETS}: {amount(len(opened), 'set')}, not sealed: delete it after printing.",
        file=output / SETS,
        sets=list(opened),
    )


@click.command("move", short_help="Move a deal to another tile set.")
@options.folder_argument
@click.option("--deal", "number", type=click.IntRange(1, LAST_DEAL), required=True, help="Number of the deal.")
@click.option(
    "--set", "to", type=click.IntRange(1, LAST_SET), required=True, help="Number of the set that it moves to."
)
@json_lines
def deal_move(folder: Path, number: int, to: int) -> None:
    """Move a deal to another tile set, for instance because a set is damaged. Faces and commitment stay the same.

    Print its sheet again afterwards, and restart the scorer.

    \b
    homologue deal move my-cup --deal 7 --set 20
    """
    sealing.move_deal(folder, number, to)
    text = (
        f"Deal {number} is now in set {to}. Print its sheet again (homologue deal export {folder} --deal {number}), "
        "and restart the scorer if it is running."
    )
    # Only a note, not an error: it goes away once the other deal is moved too.
    notes = [f"{code}: {problem}" for code, problem in start_problems(folder) if code == "set_at_two_tables"]
    say("\n".join((text, *notes)), deal=number, set=to, notes=notes)


COMMANDS: Final = (deal_draw, deal_key, deal_seal, deal_shares, deal_recover, deal_move)
