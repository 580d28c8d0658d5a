"""Write the bill of materials (CycloneDX 1.6, JSON): `python -m tests.supply.sbom [0.2.0] > homologue.cdx.json`.

It lists the pinned packages with the hashes that pip accepts, the embedded broker's program, the networks that read
tile backs, and the files for browsers and the button box. What only developers need is marked as excluded.
"""

import hashlib
import sys
from collections.abc import Iterator
from datetime import datetime
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL
from packaging.utils import canonicalize_name

from broker.mqtt.programs import broker_program
from broker.version import program_version
from tests.supply.parts import LOCK, ROOT, needed, pins, shipped_files
from tests.supply.release import git


def packages() -> Iterator[Component]:
    """Yield the pinned packages."""
    required = needed()
    for name, version, marker, hashes in pins(LOCK.read_text(encoding="utf-8")):
        yield Component(
            type=ComponentType.LIBRARY,
            name=name,
            version=version,
            scope=ComponentScope.REQUIRED if canonicalize_name(name) in required else ComponentScope.EXCLUDED,
            purl=PackageURL("pypi", name=name, version=version),
            bom_ref=f"pypi:{name}@{version}{f' ; {marker}' if marker else ''}",
            properties=[
                *([Property(name="homologue:marker", value=marker)] if marker else []),
                *(Property(name="homologue:archive:sha256", value=one) for one in hashes),
            ],
        )


def broker() -> Component:
    """Return the installed program of the embedded broker. Raises ProgramMissing."""
    found = broker_program("embedded")
    return Component(
        type=ComponentType.APPLICATION,
        name="nats-server",
        version=found.version,
        description=f"the embedded broker, from {found.package}, on {sys.platform}",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=found.sha256)],
        bom_ref="program:nats-server",
    )


def shipped() -> Iterator[Component]:
    """Yield the shipped files other than our own Python."""
    for path in shipped_files():
        name = path.relative_to(ROOT).as_posix()
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        yield Component(
            type=ComponentType.MACHINE_LEARNING_MODEL if path.suffix == ".onnx" else ComponentType.FILE,
            name=name,
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
            bom_ref=f"file:{name}",
        )


def bill(version: str) -> str:
    """Return a version's bill of materials, which is the same each time for one commit.

    Raises ValueError if it does not follow the standard's schema.
    """
    program = Component(type=ComponentType.APPLICATION, name="homologue", version=version, bom_ref="homologue")
    commit, when = git(ROOT, "log", "-1", "--format=%H %cI").split()
    bom = Bom(components=[*packages(), broker(), *shipped()], serial_number=uuid5(NAMESPACE_URL, commit))
    bom.metadata.timestamp = datetime.fromisoformat(when)
    bom.metadata.component = program
    bom.register_dependency(program, [one for one in bom.components if one.scope is not ComponentScope.EXCLUDED])
    text = str(JsonV1Dot6(bom).output_as_string(indent=2))
    if wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(f"not CycloneDX: {wrong}")
    return text


if __name__ == "__main__":
    sys.stdout.write(bill(sys.argv[1] if sys.argv[1:] else program_version()) + "\n")
