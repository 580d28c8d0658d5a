// Turn the page into a new rendering of it by changing only what differs, so that elements keep their focus, selection
// and scroll position. `data-key` identifies an element among its siblings. An empty element with `data-same` stands
// for the element with the same key that is already on the page: the server sends each element once (live.py).
//
// Why not idiomorph or htmx: on the page of a hall of 1,000 tables (7,500 elements; Chromium slowed sixfold, about a
// phone) one result takes 72 ms here, 234 ms with idiomorph 0.8.0 given the same stubs, and 430 ms as a swap of htmx
// 2.0.11. htmx, its SSE extension and idiomorph are 66 KB against the 4 KB of this file, and desk.js would still need
// the connection's watchdog, the delays between attempts, the end of a session and pausing the page.

const keyOf = (node) => (node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("data-key") : null);
const isSame = (node) => node.nodeType === Node.ELEMENT_NODE && node.hasAttribute("data-same");
const alike = (one, other) => one.nodeName === other.nodeName && keyOf(one) === keyOf(other);

// Attributes set by the reader or by our scripts; renderings do not remove them.
const KEPT = new Set(["data-arrived", "open"]);

/** Thrown if the page lacks an element that should stay. Nothing has been changed then. */
export class Missing extends Error {}

/** Morph `shown` into `wanted`; return the elements with `data-news` that were added. Throws Missing. */
export function morph(shown, wanted) {
  const stubs = [...wanted.querySelectorAll("[data-same]")];
  const staying = new Map(stubs.length ? [...shown.querySelectorAll("[data-key]")].map((one) => [keyOf(one), one]) : []);
  if (stubs.some((stub) => !staying.has(keyOf(stub)))) throw new Missing();
  const added = [];
  morphNode(shown, wanted, staying, added);
  return added;
}

function morphNode(shown, wanted, staying, added) {
  if (shown.nodeType !== Node.ELEMENT_NODE) {
    if (shown.nodeValue !== wanted.nodeValue) shown.nodeValue = wanted.nodeValue;
  } else if (!isSame(wanted)) {
    morphAttributes(shown, wanted);
    morphChildren(shown, wanted, staying, added);
  }
}

function morphAttributes(shown, wanted) {
  for (const { name } of [...shown.attributes]) {
    if (!wanted.hasAttribute(name) && !KEPT.has(name)) shown.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (shown.getAttribute(name) !== value) shown.setAttribute(name, value);
  }
}

function morphChildren(shown, wanted, staying, added) {
  const wantedKeys = new Set([...wanted.children].map(keyOf).filter(Boolean));
  const keyed = new Map();
  for (const child of [...shown.children]) {
    const key = keyOf(child);
    // Remove first: otherwise every later child would be moved past this one, and moving loses focus and selection.
    if (key && !wantedKeys.has(key)) child.remove();
    else if (key) keyed.set(key, child);
  }
  let here = shown.firstChild;
  for (const child of wanted.childNodes) {
    const key = keyOf(child);
    const match = key ? keyed.get(key) : here && alike(here, child) ? here : null;
    if (match && alike(match, child)) {
      keyed.delete(key); // two children with the same key must not share an element
      if (match === here) here = here.nextSibling;
      else shown.insertBefore(match, here);
      morphNode(match, child, staying, added);
    } else {
      const made = shown.insertBefore(create(child, staying), here);
      if (key && child.hasAttribute("data-news")) added.push(made);
    }
  }
  while (here) {
    const next = here.nextSibling;
    here.remove();
    here = next;
  }
}

/** Return a new element with elements that stay moved into it, or the staying element itself. */
function create(child, staying) {
  if (isSame(child)) return staying.get(keyOf(child));
  const made = document.importNode(child, true);
  if (made.nodeType === Node.ELEMENT_NODE) {
    for (const stub of made.querySelectorAll("[data-same]")) stub.replaceWith(staying.get(keyOf(stub)));
  }
  return made;
}
