"""A table's configuration: errors are reported with their place."""

from pathlib import Path

import pytest

from broker.protocol.link import Address
from kiosk.config import BrokerSettings, Config, DeviceSettings, KioskSettings, ScreenSettings
from kiosk.errors import BadConfiguration

GOOD = """
event = "cup-2026"
table = 3
folder = "state"

[broker]
host = "scorer.local"
port = 8883
password_file = "password"
ca_file = "ca.pem"
keepalive_s = 20

[devices]
buttons = "gpio:east=5,south=6,west=13,north=19"
camera = "picamera:0"
"""

PASSWORD = "correct horse battery staple"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "password").write_text(PASSWORD + "\n", encoding="utf-8")
    (tmp_path / "password").chmod(0o600)
    (tmp_path / "ca.pem").write_text("a certificate", encoding="utf-8")
    written = tmp_path / "table-3.toml"
    written.write_text(GOOD, encoding="utf-8")
    return written


def refusal(file: Path, text: str | bytes) -> str:
    """Return the refusal of a configuration."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadConfiguration) as refused:
        KioskSettings(file)
    assert refused.value.code == "bad_configuration"
    return str(refused.value).removeprefix(f"{file}: ")


def test_a_valid_file_is_read_completely(file: Path) -> None:
    assert KioskSettings(file).config == Config(
        event="cup-2026",
        table=3,
        folder="state",
        broker=BrokerSettings("scorer.local", 8883, "password", "ca.pem", 20),
        devices=DeviceSettings("gpio:east=5,south=6,west=13,north=19", "picamera:0"),
        screen=ScreenSettings(800, 480, None, fullscreen=False),
        language="en",
    )


def test_relative_paths_are_beside_the_file_and_absolute_ones_stay(file: Path) -> None:
    settings = KioskSettings(file)
    assert settings.folder == file.parent / "state"
    assert settings.path_of("/etc/ca.pem") == Path("/etc/ca.pem")


def test_the_broker_is_reached_as_this_table_with_the_password_of_the_file(file: Path) -> None:
    expected = Address("scorer.local", 8883, "table-3", PASSWORD, file.parent / "ca.pem", 20)
    assert KioskSettings(file).address() == expected


def test_a_connection_is_plain_only_if_that_was_requested(file: Path) -> None:
    without = GOOD.replace('ca_file = "ca.pem"\n', "")
    file.write_text(without, encoding="utf-8")
    with pytest.raises(BadConfiguration, match="plain = true"):
        KioskSettings(file).address()
    file.write_text(without.replace("keepalive_s", "plain = true\nkeepalive_s"), encoding="utf-8")
    assert KioskSettings(file).address() == Address("scorer.local", 8883, "table-3", PASSWORD, None, 20)
    file.write_text(GOOD.replace("keepalive_s", "plain = true\nkeepalive_s"), encoding="utf-8")
    with pytest.raises(BadConfiguration, match="ca_file"):
        KioskSettings(file).address()


def test_with_a_certificate_the_table_uses_its_key_and_sends_no_password(file: Path) -> None:
    text = GOOD.replace('password_file = "password"', 'certificate_file = "table.crt"')
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadConfiguration, match="certificate_file: there is no file"):
        KioskSettings(file).address()
    (file.parent / "table.crt").write_text("a certificate", encoding="utf-8")
    settings = KioskSettings(file)
    address = settings.address()
    assert (address.password, address.ca) == ("", file.parent / "ca.pem")
    assert address.identity is not None
    assert address.identity.certificate == file.parent / "table.crt"
    assert address.identity.key is not None
    assert address.identity.key.public == settings.device_key().public


def test_a_password_is_never_shown(file: Path) -> None:
    settings = KioskSettings(file)
    address = settings.address()
    assert PASSWORD not in f"{address!r} {address} {settings.config!r} {vars(settings)!r}"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfiguration, match=r"nowhere\.toml.*No such file"):
        KioskSettings(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("table = 3", "table = 0", "table: a whole number of at least 1 is needed"),
        ("table = 3", 'table = "3"', "table: a whole number is needed, not text"),
        ("table = 3\n", "", "table is missing"),
        (
            'event = "cup-2026"',
            'event = "The Cup"',
            "event: use only a-z 0-9 -, at most 32 characters",
        ),
        ("port = 8883", "port = 70000", "broker.port: a whole number of at most 65535 is needed"),
        ("keepalive_s = 20", "keepalive_s = 1", "broker.keepalive_s: a whole number of at least 2 is needed"),
        ('host = "scorer.local"', 'hots = "scorer.local"', "broker: hots is not known here"),
        ("[devices]", "[screen]\nwidth = 3\n[devices]", "screen.width: a whole number of at least 480 is needed"),
        ("[devices]", "[colours]\n[devices]", "colours is not known here"),
        (
            "table = 3",
            'table = 3\nlanguage = "../fr"',
            "language: use only a-z, at most 3 characters",
        ),
    ],
)
def test_errors_are_reported_with_their_place(file: Path, old: str, new: str, said: str) -> None:
    assert GOOD.count(old) == 1
    assert refusal(file, GOOD.replace(old, new)).endswith(said)


@pytest.mark.parametrize("text", ["table = = 3", b"\xff\xfe", "a = 1\na = 2"])
def test_a_file_that_is_not_toml_is_refused(file: Path, text: str | bytes) -> None:
    assert refusal(file, text)


@pytest.mark.parametrize(
    ("buttons", "camera"), [("gpio:east=5,south=6,west=13,north=19", "sim://tray"), ("sim://buttons", "picamera:0")]
)
def test_simulated_people_need_simulated_devices(file: Path, buttons: str, camera: str) -> None:
    head = GOOD.partition("[devices]")[0]
    devices = f'[devices]\nbuttons = "{buttons}"\ncamera = "{camera}"\npeople = "script.json"\n'
    said = "devices.people needs simulated buttons and a simulated camera"
    assert refusal(file, head + devices) == said
    file.write_text(head + devices.replace(buttons, "sim://buttons").replace(camera, "sim://tray"), encoding="utf-8")
    assert KioskSettings(file).config.devices.people == "script.json"


def test_a_scanner_has_an_address_or_there_is_none(file: Path) -> None:
    assert KioskSettings(file).config.devices.scanner is None
    address = "serial:/dev/serial/by-id/usb-scanner?baud=115200"
    file.write_text(GOOD + f'scanner = "{address}"\n', encoding="utf-8")
    assert KioskSettings(file).config.devices.scanner == address


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("", "devices.scanner: '' is no address of a scanner"),
        ("COM3", "devices.scanner: 'COM3' is no address of a scanner"),
        ("serial:/dev/ttyACM0?speed=1", "devices.scanner: 'serial:/dev/ttyACM0?speed=1': no setting 'speed'"),
    ],
)
def test_an_invalid_scanner_address_is_refused_before_anything_is_opened(file: Path, address: str, said: str) -> None:
    assert refusal(file, GOOD + f'scanner = "{address}"\n').startswith(said)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("password", None, "broker.password_file: .*No such file"),
        ("password", b" \n", "broker.password_file: .*is empty"),
        ("password", b"\xff\xfe", "broker.password_file: "),
        ("ca.pem", None, "broker.ca_file: there is no file"),
    ],
)
def test_an_unusable_credential_is_named_and_not_shown(file: Path, name: str, content: bytes | None, said: str) -> None:
    beside = file.parent / name
    beside.unlink() if content is None else beside.write_bytes(content)
    with pytest.raises(BadConfiguration, match=said):
        KioskSettings(file).address()


@pytest.mark.parametrize("mode", [0o644, 0o602])
def test_a_password_that_everybody_can_read_is_refused(file: Path, mode: int) -> None:
    (file.parent / "password").chmod(mode)
    with pytest.raises(BadConfiguration, match="chmod 640"):
        KioskSettings(file).address()


@pytest.mark.parametrize(
    ("address", "opened"), [("pictures:trays", "pictures:{beside}/trays"), ("v4l2:/dev/video0", "v4l2:/dev/video0")]
)
def test_a_folder_of_pictures_is_relative_to_the_configuration(file: Path, address: str, opened: str) -> None:
    file.write_text(GOOD.replace("picamera:0", address), encoding="utf-8")
    assert KioskSettings(file).camera == opened.format(beside=file.parent)


def test_an_invalid_keyboard_is_refused_and_named_ones_are_kept(file: Path) -> None:
    assert refusal(file, GOOD + 'keyboards = ["event3"]\n').startswith("devices.keyboards: 'event3' is no address")
    address = "evdev:/dev/input/by-id/usb-Maker_Keyboard-event-kbd?layout=fr"
    file.write_text(GOOD + f'keyboards = ["{address}"]\n', encoding="utf-8")
    assert KioskSettings(file).config.devices.keyboards == (address,)
