"""How tables find their scorer in the hall's network: mDNS, as printers are found (RFC 6763).

What is found is worth as much as an address that was typed: the code of a pairing proves the desk, not its name.
"""

import asyncio
import ipaddress
import logging
import queue
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from broker.closing import Closing

if TYPE_CHECKING:
    from concurrent.futures import Future

    from zeroconf import ServiceStateChange, Zeroconf

log = logging.getLogger("homologue")

SERVICE: Final = "_homologue._tcp.local."
ANSWER_MS: Final = 3_000
AGAIN_S: Final = 1.0
"""Between two questions to a desk that does not answer."""
LONGEST: Final = 63
"""Characters of an instance's name (RFC 6763, 4.1.1)."""


@dataclass(frozen=True, slots=True, order=True)
class FoundDesk:
    """A desk that announces itself."""

    event: str
    address: str
    """Address and port, as they are typed."""


class DeskAnnouncement(Closing):
    """A scorer's desk says where it is, while this is open. Context-managed; `close` may be called twice.

    It is announced beside what else is done: nobody waits until the network has answered whether the name is free.
    """

    def __init__(self, event: str, port: int, hosts: list[str]) -> None:
        """`hosts`: addresses by which tables reach the desk; none: all of this machine's."""
        from zeroconf import ServiceInfo, Zeroconf  # noqa: PLC0415 - slow to import; a desk on loopback needs none

        self._zeroconf: Zeroconf | None = None
        self._registering: Future[Any] | None = None
        name = f"{event} {socket.gethostname()}"[:LONGEST].replace(".", "-")
        addresses = [ipaddress.ip_address(host).packed for host in hosts or own_addresses()]
        info = ServiceInfo(SERVICE, f"{name}.{SERVICE}", port, addresses=addresses, properties={"event": event})
        try:
            made = self._zeroconf = Zeroconf(interfaces=hosts or own_addresses())
        except OSError as error:
            _tell_why(error)
            return
        if made.loop:
            registering = made.async_register_service(info, allow_name_change=True)
            self._registering = asyncio.run_coroutine_threadsafe(registering, made.loop)
            self._registering.add_done_callback(_registered)

    def close(self) -> None:
        """Say that it is gone."""
        if self._registering:
            self._registering.cancel()
        made, self._zeroconf = self._zeroconf, None
        _close(made)


def _registered(done: "Future[Any]") -> None:
    if not done.cancelled() and (error := done.exception()):
        _tell_why(error)


def _tell_why(error: BaseException) -> None:
    log.warning("tables have to be told the desk's address: %s", error or type(error).__name__)


def _unanswered() -> suppress:
    """Return what passes over a question that a busy machine or network leaves without an answer."""
    from zeroconf import Error  # noqa: PLC0415 - slow to import; a desk on loopback needs none

    return suppress(Error, TimeoutError)


def _close(made: "Zeroconf | None") -> None:
    """End it; a machine that is too busy to say good-bye leaves that to the records' time to live."""
    with _unanswered():
        if made is not None:
            made.close()


class DeskFinder:
    """Looks for desks until it is closed, and tells of all there are whenever one comes or goes, on a thread."""

    def __init__(self, tell: Callable[[tuple[FoundDesk, ...]], None], interfaces: list[str] | None = None) -> None:
        """`interfaces`: addresses of this machine, where not in all of its networks."""
        from zeroconf import ServiceBrowser, Zeroconf  # noqa: PLC0415 - slow to import; a table that is paired needs none

        self._tell = tell
        self._changes: queue.SimpleQueue[tuple[str, bool] | None] = queue.SimpleQueue()
        """Names of desks, and whether they are there; None: stop looking."""
        self._asking = threading.Thread(target=self._ask_all, name="desks", daemon=True)
        self._zeroconf: Zeroconf | None = None
        try:
            self._zeroconf = Zeroconf(interfaces=interfaces) if interfaces else Zeroconf()
            ServiceBrowser(self._zeroconf, SERVICE, handlers=[self._changed])
            self._asking.start()
        except OSError as error:
            log.info("desks cannot be looked for: %s", error)

    def _changed(self, *, name: str, state_change: "ServiceStateChange", **_: object) -> None:
        self._changes.put((name, state_change.name != "Removed"))

    def _ask_all(self) -> None:
        """Ask each desk where it is, again until it has answered: it is announced once, and may be busy then."""
        found: dict[str, FoundDesk] = {}
        asked: set[str] = set()
        while True:
            with suppress(queue.Empty):
                if (change := self._changes.get(timeout=AGAIN_S if asked else None)) is None:
                    return
                name, there = change
                found.pop(name, None)
                asked = asked | {name} if there else asked - {name}
            found |= {name: desk for name in sorted(asked) if (desk := self._ask(name))}
            asked -= found.keys()
            self._tell(tuple(sorted({*found.values()})))

    def _ask(self, name: str) -> FoundDesk | None:
        """Return the desk that has announced itself under a name; None: it has not answered, or is not ours."""
        info = None
        with _unanswered():
            info = self._zeroconf.get_service_info(SERVICE, name, ANSWER_MS) if self._zeroconf else None
        addresses = info.parsed_addresses() if info else []
        event = (info.properties.get(b"event") or b"") if info else b""
        if not info or not addresses or not event.isascii():
            return None
        host = next((one for one in addresses if ":" not in one), f"[{addresses[0]}]")
        return FoundDesk(event.decode()[:LONGEST], f"{host}:{info.port}")

    def close(self) -> None:
        """End looking; may be called twice."""
        self._changes.put(None)
        if self._asking.is_alive():
            self._asking.join()
        made, self._zeroconf = self._zeroconf, None
        _close(made)


def own_addresses() -> list[str]:
    """Return this machine's addresses in the networks that it is in (IPv4), but for its own loop."""
    from ifaddr import get_adapters  # noqa: PLC0415 - with zeroconf

    return [str(ip.ip) for adapter in get_adapters() for ip in adapter.ips if ip.is_IPv4 and ip.ip != "127.0.0.1"]
