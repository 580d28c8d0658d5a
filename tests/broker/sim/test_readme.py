"""The example in the room's README is run."""

import re
from pathlib import Path
from typing import Any, Final

from broker import sim

README: Final = Path(sim.__file__).with_name("README.md")


def test_the_readme_s_example_plays_a_deal_to_its_end() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 - our own page
    assert names["played"].actions[-1].do in ("self_hu", "hu_on_discard", "no_claim")
