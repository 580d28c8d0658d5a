"""The brokers behind one interface: `make_broker` gives the embedded one (nats-server) or Mosquitto."""

from pathlib import Path
from types import TracebackType
from typing import Literal, Protocol, Self

from broker.mqtt.access import Credentials
from broker.mqtt.certificates import Certificates
from broker.mqtt.mosquitto import MosquittoBroker
from broker.mqtt.nats import NatsBroker
from broker.mqtt.process import MqttBrokerSettings

Kind = Literal["embedded", "mosquitto"]


class Broker(Protocol):
    """A broker running as a child process, which ends when this process ends, however it ends.

    A context manager: starts on entering, stops on leaving. Not for several threads at once.
    """

    @property
    def host(self) -> str:
        """Address that clients connect to."""

    @property
    def port(self) -> int:
        """TCP port of the MQTT listener; 0 before the first start, if none was asked for."""

    @property
    def pid(self) -> int | None:
        """Process id of the running broker; None while there is none."""

    def alive(self) -> bool:
        """Return whether the process runs."""

    def check(self) -> None:
        """Raise BrokerDied where the process has ended without being told to.

        A broker that has stopped working for want of room is started again as soon as there is room. One whose event's
        certificates have changed learns of it: who has none any more is cut off.
        """

    def start(self) -> None:
        """Start, and return once a client with real credentials is let in; a running broker is left alone.

        Started again it takes the same port and the same store. Raises ProgramMissing, PortTaken,
        StoreLocked, StartFailed, NotReady.
        """

    def stop(self) -> None:
        """End the broker in good order, by force after some seconds; may be called twice."""

    def kill(self) -> None:
        """End the broker with SIGKILL, as a power cut would (fault injection)."""

    def restart(self) -> None:
        """Stop and start. Raises what `start` raises."""

    def __enter__(self) -> Self:
        """Start."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""


def make_broker(  # noqa: PLR0913 - each is said by its name
    kind: Kind,
    folder: Path,
    event: str,
    credentials: Credentials,
    *,
    tables: int,
    host: str = "127.0.0.1",
    port: int = 0,
    certificates: Certificates | None = None,
) -> Broker:
    """Return a broker, not yet started, that keeps its store, settings and log in `folder`.

    Port 0 takes a free one at the first start. With the event's certificates it speaks TLS, and lets in who has one.
    Raises SettingRefused, and UserUnknown where the credentials lack a user.
    """
    settings = MqttBrokerSettings(
        folder=folder,
        event=event,
        credentials=credentials,
        tables=tables,
        host=host,
        port=port,
        certificates=certificates,
    )
    return NatsBroker(settings) if kind == "embedded" else MosquittoBroker(settings)
