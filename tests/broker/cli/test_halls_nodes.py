"""Alerts about the nodes of a centre's broker on other machines."""

from broker.cli.halls import node_concern
from broker.i18n import languages
from broker.scorer import AlertView
from broker.web.i18n import translators
from tests.broker.web.tables.test_alerts import told


def test_a_lost_and_a_returned_node_are_reported_in_each_language() -> None:
    said = set()
    for there in (False, True):
        concern = node_concern(2, "10.0.0.6:1883", there=there)
        alert = AlertView(at=0, code=concern.code, table=None, text=concern.text, values=dict(concern.values))
        for language in languages():
            text = told(translators()[language], alert)
            assert "10.0.0.6:1883" in text
            said.add((language, text))
    assert len(said) == 2 * len(languages())
