"""A throw-away certificate authority, made with openssl."""

import shutil
import subprocess
from pathlib import Path

import pytest

from broker.mqtt.process import BrokerTls


def make_tls(folder: Path) -> BrokerTls:
    """Make an authority and a certificate of it for 127.0.0.1 (openssl 3)."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    tls = BrokerTls(certificate=folder / "hall.crt", key=folder / "hall.key", authority=folder / "ca.crt")
    ca_key = folder / "ca.key"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    usage = ["-addext", "keyUsage=critical,keyCertSign"]
    _openssl("req", "-x509", *curve, "-subj", "/CN=test authority", *usage, "-keyout", ca_key, "-out", tls.authority)
    issuer: list[str | Path] = ["-CA", tls.authority, "-CAkey", ca_key]
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-addext", "basicConstraints=CA:FALSE"]
    _openssl("req", "-x509", *curve, "-subj", "/CN=hall", *names, *issuer, "-keyout", tls.key, "-out", tls.certificate)
    return tls


def _openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
