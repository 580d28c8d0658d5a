// Turns the pages of the room's display. The server makes each page; without this script the browser turns them itself.

import { lay } from "./desk.js";

const root = document.documentElement;
const shown = document.getElementById("display");

/** The next page takes the place of this one; where the line is broken this one stays, and says that it may be old. */
async function turn() {
  try {
    const answer = await fetch(shown.dataset.next, { cache: "no-store" });
    if (answer.redirected || answer.status === 401 || answer.status === 403) return location.reload();
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    lay(page.getElementById("display"), shown);
    root.dataset.line = "live";
  } catch {
    root.dataset.line = "lost";
  }
  wait();
}

function wait() {
  setTimeout(turn, 1_000 * Number(shown.dataset.stay));
}

wait();
