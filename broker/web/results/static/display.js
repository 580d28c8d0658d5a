// Turn the pages of the room's display. The server makes each page; without this script a meta refresh turns them.

import { morph } from "./morph.js";
import { putTimesIntoZone } from "./times.js";

const root = document.documentElement;
const shown = document.getElementById("display");
const COLUMN_REM = 29; // place, twenty letters of a name, IMP, likely and reachable places
const SHARES = [0.75, 0.65, 0.55]; // of the font size, for a name on several lines
const SMALLEST_PX = 14;
const asked = new URLSearchParams(location.search);
const settled = asked.has("lines") || asked.has("columns");
let waiting, resizing;

/** Return how many lines and columns fit: a wide screen gets more columns, a tall one longer columns. */
function fitting() {
  const area = shown.querySelector(".columns");
  const line = area?.querySelector("tbody tr");
  if (!line) return null;
  const rem = parseFloat(getComputedStyle(root).fontSize);
  const head = area.querySelector("thead").offsetHeight + 2;
  return {
    lines: Math.min(40, Math.max(1, Math.floor((area.clientHeight - head) / line.offsetHeight))),
    columns: Math.min(6, Math.max(1, Math.floor(area.clientWidth / (COLUMN_REM * rem)))),
  };
}

/** Hide the club beside a long name. If the name is still too wide, wrap it in smaller type within its row. */
function wrapNames() {
  for (const cell of shown.querySelectorAll("tbody th")) {
    const isWide = () => cell.scrollWidth > cell.clientWidth;
    if (isWide()) cell.classList.add("alone");
    if (!isWide()) continue;
    const row = cell.offsetHeight;
    const size = parseFloat(getComputedStyle(cell).fontSize);
    cell.classList.add("long");
    const fitsAt = (share) => {
      cell.style.fontSize = `${Math.max(share * size, SMALLEST_PX)}px`;
      return cell.offsetHeight <= row && !isWide();
    };
    if (SHARES.some(fitsAt)) continue;
    cell.style.overflowWrap = "anywhere"; // one of its words is too wide at any size
    SHARES.some(fitsAt);
  }
}

/** Return the address of the next page, with what fits on this screen unless the query sets it. */
function following() {
  const next = new URL(shown.dataset.next, location);
  const fits = settled ? null : fitting();
  for (const [name, value] of Object.entries(fits ?? {})) next.searchParams.set(name, value);
  return next;
}

/** Show the next page. Without a connection this page stays, marked as possibly old. */
async function turn(to = following()) {
  try {
    const answer = await fetch(to, { cache: "no-store" });
    if (answer.redirected || answer.status === 401 || answer.status === 403) return location.reload();
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    putTimesIntoZone(page);
    morph(shown, page.getElementById("display"));
    wrapNames();
    root.dataset.line = "live";
  } catch {
    root.dataset.line = "lost";
  }
  wait();
}

function wait() {
  clearTimeout(waiting);
  waiting = setTimeout(() => turn(), 1_000 * Number(shown.dataset.stay));
}

/** Start over with what fits on the screen, when the page is opened and when the screen's size changes. */
function fit() {
  const fits = settled ? null : fitting();
  if (!fits || (fits.lines === Number(shown.dataset.lines) && fits.columns === Number(shown.dataset.columns))) return;
  const to = following();
  to.searchParams.set("page", "1");
  turn(to);
}

wait();
document.fonts.ready.then(() => {
  wrapNames();
  fit();
});
addEventListener("resize", () => {
  clearTimeout(resizing);
  resizing = setTimeout(fit, 300);
});
