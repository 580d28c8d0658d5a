"""The limit of connections from one address, in a real kernel between two network namespaces."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

RULES: Final = Path(__file__).parents[2] / "systemd" / "homologue-limits.nft"
AN_ADDRESS: Final = 16

CALLER: Final = """
import socket, sys
host, port, own, count = sys.argv[1:]
held = []
for _ in range(int(count)):
    try:
        held.append(socket.create_connection((host, int(port)), 60, (own, 0)))
    except ConnectionRefusedError:
        pass
print(len(held), flush=True)
sys.stdin.read()
"""
"""Opens as many connections as it can from its own address, and prints how many."""

HALL: Final = f"""
set -e
ip link set lo up
unshare -n tail -f /dev/null & laptop=$!
trap 'kill $laptop' EXIT
until [ "$(readlink /proc/$laptop/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do :; done
ip link add hall type veth peer name there netns $laptop
ip addr add 10.9.0.1/24 dev hall; ip link set hall up
nsenter -t $laptop -n sh -ec 'for last in 2 3; do ip addr add 10.9.0.$last/24 dev there; done; ip link set there up'
nft -f {RULES}
python3 - "$1" nsenter -t $laptop -n <<'END'
import socket, subprocess, sys
listening = [socket.create_server(("0.0.0.0", port), backlog=200) for port in (8883, 8443, 20000)]
callers = []
def call(own, count, port=8883, host="10.9.0.1", there=sys.argv[2:]):
    command = [*there, "python3", "-c", sys.argv[1], host, str(port), own, str(count)]
    callers.append(subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    print(callers[-1].stdout.readline().strip())
call("10.9.0.2", 40)
call("10.9.0.2", 1)
call("10.9.0.3", 1)
call("10.9.0.3", 40, port=20000)
call("10.9.0.2", 40, port=8443)
call("127.0.0.1", 40, host="127.0.0.1", there=())
for one in callers:
    one.communicate()
END
"""
"""A machine with the ports of broker and desk, a laptop with two addresses, and the connections that each gets."""


@pytest.mark.slow
def test_one_address_is_limited_and_others_are_not_affected() -> None:
    ran = subprocess.run(
        ["unshare", "-rn", "bash", "-c", HALL, "hall", CALLER], capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    held, again, other, own, desk, here = (int(line) for line in ran.stdout.split())
    assert (held, again) == (AN_ADDRESS, 0)
    assert (other, own) == (1, AN_ADDRESS - 1)
    assert (desk, here) == (40, 40)
