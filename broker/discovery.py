"""How tables find their scorer in the hall's network: mDNS, as printers are found (RFC 6763).

What is found is worth as much as an address that was typed: the code of a pairing proves the desk, not its name.
"""

import ipaddress
import logging
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from broker.closing import Closing

if TYPE_CHECKING:
    from zeroconf import Zeroconf

log = logging.getLogger("homologue")

SERVICE: Final = "_homologue._tcp.local."
ANSWER_MS: Final = 3_000
LONGEST: Final = 63
"""Characters of an instance's name (RFC 6763, 4.1.1)."""


@dataclass(frozen=True, slots=True, order=True)
class FoundDesk:
    """A desk that announces itself."""

    event: str
    address: str
    """Address and port, as they are typed."""


class Announcement(Closing):
    """A scorer's desk says where it is, while this is open. Context-managed; `close` may be called twice."""

    def __init__(self, event: str, port: int, hosts: list[str]) -> None:
        """`hosts`: addresses by which tables reach the desk; none: all of this machine's."""
        from zeroconf import ServiceInfo, Zeroconf  # noqa: PLC0415 - slow to import; a desk on loopback needs none

        self._zeroconf: Zeroconf | None = None
        name = f"{event} {socket.gethostname()}"[:LONGEST].replace(".", "-")
        addresses = [ipaddress.ip_address(host).packed for host in hosts or own_addresses()]
        info = ServiceInfo(SERVICE, f"{name}.{SERVICE}", port, addresses=addresses, properties={"event": event})
        try:
            self._zeroconf = Zeroconf(interfaces=hosts or own_addresses())
            self._zeroconf.register_service(info, allow_name_change=True)
        except OSError as error:
            log.warning("tables have to be told the desk's address: %s", error)

    def close(self) -> None:
        """Say that it is gone."""
        if self._zeroconf is not None:
            self._zeroconf.close()
            self._zeroconf = None


class DeskFinder:
    """Looks for desks until it is closed, and tells of all that there are whenever one comes or goes, on a thread."""

    def __init__(self, tell: Callable[[tuple[FoundDesk, ...]], None], interfaces: list[str] | None = None) -> None:
        """`interfaces`: addresses of this machine, where not in all of its networks."""
        from zeroconf import ServiceBrowser, Zeroconf  # noqa: PLC0415 - slow to import; a table that is paired needs none

        self._tell, self._found = tell, dict[str, FoundDesk]()
        self._zeroconf: Zeroconf | None = None
        self._browser: ServiceBrowser | None = None
        try:
            self._zeroconf = Zeroconf(interfaces=interfaces) if interfaces else Zeroconf()
            self._browser = ServiceBrowser(self._zeroconf, SERVICE, handlers=[self._changed])
        except OSError as error:
            log.info("desks cannot be looked for: %s", error)

    def _changed(self, *, zeroconf: "Zeroconf", service_type: str, name: str, state_change: Any) -> None:  # noqa: ANN401 - zeroconf's
        info = None if state_change.name == "Removed" else zeroconf.get_service_info(service_type, name, ANSWER_MS)
        self._found.pop(name, None)
        addresses = info.parsed_addresses() if info else []
        event = (info.properties.get(b"event") or b"") if info else b""
        if info and addresses and event.isascii():
            host = next((one for one in addresses if ":" not in one), f"[{addresses[0]}]")
            self._found[name] = FoundDesk(event.decode()[:LONGEST], f"{host}:{info.port}")
        self._tell(tuple(sorted(self._found.values())))

    def close(self) -> None:
        """End looking; may be called twice."""
        if self._zeroconf is not None:
            self._zeroconf.close()
            self._zeroconf = None


def own_addresses() -> list[str]:
    """Return this machine's addresses in the networks that it is in (IPv4), but for its own loop."""
    from ifaddr import get_adapters  # noqa: PLC0415 - with zeroconf

    return [str(ip.ip) for adapter in get_adapters() for ip in adapter.ips if ip.is_IPv4 and ip.ip != "127.0.0.1"]
