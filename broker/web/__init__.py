"""The web pages of an event: the arbiters' desk, set-up, results and everything else that is opened in a browser."""

from broker.web.auth import Access, Visitor, account_of, client_address, note_action, visitor_of
from broker.web.embargo import Sheets
from broker.web.forms import Form, form_handler, form_page, read_number
from broker.web.i18n import HtmlTranslator
from broker.web.live import LivePage, LivePages
from broker.web.render import Pagination, redirect, render_page, translator_for
