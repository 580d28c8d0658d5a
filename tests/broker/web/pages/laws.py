"""Laws that hold on every page in a browser. Each yields its violations."""

from collections.abc import Iterator
from typing import Final

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

STRUCTURE: Final = """() => {
  const wrong = [];
  const shown = (part) => part.checkVisibility();
  const named = (part) => part.getAttribute("aria-label")
    ?? document.getElementById(part.getAttribute("aria-labelledby"))?.textContent ?? "";
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) wrong.push(`page is ${page.scrollWidth} wide`);
  for (const part of document.querySelectorAll("body *")) {
    if (part.closest(".scrolling, nav.pages, .unseen, [hidden]") || !shown(part)) continue;
    if (part.getBoundingClientRect().right > innerWidth + 1) wrong.push(`wider: ${part.outerHTML.slice(0, 90)}`);
  }
  for (const part of document.querySelectorAll("main *")) {
    if (!shown(part) || getComputedStyle(part).textOverflow !== "ellipsis") continue;
    if (part.scrollWidth > part.clientWidth) wrong.push(`cut short: ${part.textContent.trim().slice(0, 60)}`);
  }
  const texts = ".traveller a, .team-deals a, .name, :is(th, th a, label):not(.unseen *)";
  for (const part of [...document.querySelectorAll(`main :is(${texts})`)].filter(shown)) {
    const [text] = [...part.childNodes].filter((node) => node.data?.trim());
    for (const word of text?.data.matchAll(/(?<!\\p{L})\\p{L}{2,16}(?!\\p{L})/gu) ?? []) {
      const range = new Range();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (range.getClientRects().length > 1 && !/\\p{Script=Han}/u.test(word[0])) wrong.push(`broken: ${word[0]}`);
    }
  }
  const heads = [...document.querySelectorAll("h1")].filter(shown);
  if (heads.length !== 1) wrong.push(`${heads.length} h1`);
  const begin = heads[0].getBoundingClientRect().top + scrollY;
  if (innerWidth < 768 && begin > 190) wrong.push(`on a phone the page begins only at ${Math.round(begin)}`);
  const names = [...document.querySelectorAll("nav, main, aside, section, [role=region]")]
    .filter(shown).map((part) => `${part.localName} ${named(part).trim()}`);
  for (const name of new Set(names.filter((name, at) => names.indexOf(name) !== at))) wrong.push(`twice: ${name}`);
  for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea")) {
    if (!shown(field)) continue;
    if (!field.labels.length && !field.ariaLabel) wrong.push(`no label: ${field.outerHTML.slice(0, 90)}`);
  }
  for (const box of document.querySelectorAll("label:not(.touch label) > :is([type=checkbox], [type=radio])")) {
    if (!shown(box)) continue;
    const words = document.createRange();
    const texts = document.createTreeWalker(box.parentElement, NodeFilter.SHOW_TEXT);
    while (!texts.nextNode().data.trim());
    words.selectNode(texts.currentNode);
    const [line] = words.getClientRects();
    const { right, top, bottom } = box.getBoundingClientRect();
    const apart = Math.abs((line.top + line.bottom - top - bottom) / 2);
    if (line.left < right || apart >= 4) wrong.push(`box not beside its first line: ${box.outerHTML.slice(0, 90)}`);
  }
  return wrong;
}"""

AXE: Final = Axe()


def broken(page: Page) -> Iterator[str]:
    """Yield what is too wide, cut off, broken within a word, too far down on a phone, or without label or heading."""
    yield from page.evaluate(STRUCTURE)


def inaccessible(page: Page) -> Iterator[str]:
    """Yield the findings of axe-core: contrast, names, roles, tables, order of headings."""
    for violation in AXE.run(page).response["violations"]:
        yield from (f"{violation['id']}: {node['html'][:120]}" for node in violation["nodes"][:3])
