"""How tables find their scorer in the hall's network: DNS service discovery over mDNS (RFC 6763), as for printers.

An address that was found is trusted no more than one that was typed: the pairing code, not the name, proves the desk.
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
RETRY_S: Final = 1.0
"""Seconds between two queries to a desk that does not answer."""
MAX_NAME: Final = 63
"""Maximum length of an instance's name, in characters (RFC 6763, 4.1.1)."""


@dataclass(frozen=True, slots=True, order=True)
class FoundDesk:
    """A desk that announces itself."""

    event: str
    address: str
    """Address and port, in the form in which people type them."""


class DeskAnnouncement(Closing):
    """Announces a scorer's desk on the network until it is closed. Context-managed; `close` may be called twice.

    Registration runs in the background: nobody waits for the network to confirm that the name is free.
    """

    def __init__(self, event: str, port: int, hosts: list[str]) -> None:
        """`hosts`: addresses at which tables reach the desk; if empty, all addresses of this machine."""
        from zeroconf import ServiceInfo, Zeroconf  # noqa: PLC0415 - slow to import; a desk on loopback needs none

        self._zeroconf: Zeroconf | None = None
        self._registering: Future[Any] | None = None
        name = f"{event} {socket.gethostname()}"[:MAX_NAME].replace(".", "-")
        addresses = [ipaddress.ip_address(host).packed for host in hosts or own_addresses()]
        info = ServiceInfo(SERVICE, f"{name}.{SERVICE}", port, addresses=addresses, properties={"event": event})
        try:
            zeroconf = self._zeroconf = Zeroconf(interfaces=hosts or own_addresses())
        except OSError as error:
            _warn(error)
            return
        if zeroconf.loop:
            registering = zeroconf.async_register_service(info, allow_name_change=True)
            self._registering = asyncio.run_coroutine_threadsafe(registering, zeroconf.loop)
            self._registering.add_done_callback(_registered)

    def close(self) -> None:
        """Withdraw the announcement."""
        if self._registering:
            self._registering.cancel()
        zeroconf, self._zeroconf = self._zeroconf, None
        _close(zeroconf)


def _registered(done: "Future[Any]") -> None:
    if not done.cancelled() and (error := done.exception()):
        _warn(error)


def _warn(error: BaseException) -> None:
    log.warning("the desk is not announced, so tables need its address: %s", error or type(error).__name__)


def _unanswered() -> suppress:
    """Return a context manager that ignores queries left unanswered by a busy machine or network."""
    from zeroconf import Error  # noqa: PLC0415 - slow to import; a desk on loopback needs none

    return suppress(Error, TimeoutError)


def _close(zeroconf: "Zeroconf | None") -> None:
    """Close it. If the machine is too busy to send a goodbye, the records expire at the end of their time to live."""
    with _unanswered():
        if zeroconf is not None:
            zeroconf.close()


class DeskFinder:
    """Looks for desks until it is closed. When one comes or goes, passes all known desks to `tell`, on a thread."""

    def __init__(self, tell: Callable[[tuple[FoundDesk, ...]], None], interfaces: list[str] | None = None) -> None:
        """`interfaces`: this machine's addresses in the networks to search [default: all of its networks]."""
        from zeroconf import ServiceBrowser, Zeroconf  # noqa: PLC0415 - slow to import; a table that is paired needs none

        self._tell = tell
        self._changes: queue.SimpleQueue[tuple[str, bool] | None] = queue.SimpleQueue()
        """Names of desks, and whether each has come (or gone). None stops the thread."""
        self._thread = threading.Thread(target=self._query_all, name="desks", daemon=True)
        self._zeroconf: Zeroconf | None = None
        try:
            self._zeroconf = Zeroconf(interfaces=interfaces) if interfaces else Zeroconf()
            ServiceBrowser(self._zeroconf, SERVICE, handlers=[self._changed])
            self._thread.start()
        except OSError as error:
            log.info("cannot search for desks: %s", error)

    def _changed(self, *, name: str, state_change: "ServiceStateChange", **_: object) -> None:
        self._changes.put((name, state_change.name != "Removed"))

    def _query_all(self) -> None:
        """Query each desk for its address until it answers: it is announced only once, and may be busy then."""
        found: dict[str, FoundDesk] = {}
        pending: set[str] = set()
        while True:
            with suppress(queue.Empty):
                if (change := self._changes.get(timeout=RETRY_S if pending else None)) is None:
                    return
                name, present = change
                found.pop(name, None)
                pending = pending | {name} if present else pending - {name}
            found |= {name: desk for name in sorted(pending) if (desk := self._query(name))}
            pending -= found.keys()
            self._tell(tuple(sorted({*found.values()})))

    def _query(self, name: str) -> FoundDesk | None:
        """Return the desk that is announced under a name, or None if it does not answer or is not one of ours."""
        info = None
        with _unanswered():
            info = self._zeroconf.get_service_info(SERVICE, name, ANSWER_MS) if self._zeroconf else None
        addresses = info.parsed_addresses() if info else []
        event = (info.properties.get(b"event") or b"") if info else b""
        if not info or not addresses or not event.isascii():
            return None
        host = next((address for address in addresses if ":" not in address), f"[{addresses[0]}]")
        return FoundDesk(event.decode()[:MAX_NAME], f"{host}:{info.port}")

    def close(self) -> None:
        """Stop looking for desks. May be called twice."""
        self._changes.put(None)
        if self._thread.is_alive():
            self._thread.join()
        zeroconf, self._zeroconf = self._zeroconf, None
        _close(zeroconf)


def own_addresses() -> list[str]:
    """Return this machine's IPv4 addresses in all of its networks, without loopback addresses (127.0.0.0/8)."""
    from ifaddr import get_adapters  # noqa: PLC0415 - with zeroconf

    found = (str(ip.ip) for adapter in get_adapters() for ip in adapter.ips if ip.is_IPv4)
    return [address for address in found if not ipaddress.ip_address(address).is_loopback]
