// The live half of the desk: takes renderings of the room from the event stream and morphs the page into each.
// The server renders; nothing is written twice here. What the page shows without this script is right, only still.

import { Missing, morph } from "./morph.js";
import { clock, putTimesIntoZone } from "./times.js";

const SILENCE_MS = 25_000; // two heartbeats and a half: after that the line is dead, whatever the browser thinks
const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000]; // between attempts, the last for good
const AGAIN_MS = 8_000; // how long "live again" is shown
const NEWS = 4; // at most so many sentences are read aloud at once

const root = document.documentElement;
const news = document.getElementById("news");

// ---- time -------------------------------------------------------------------------------------

/** How long something has lasted, in whole minutes; without this script its beginning stands there. */
function putMinutes(part) {
  for (const place of part.querySelectorAll("[data-since][data-minutes]")) {
    const minutes = Math.max(0, Math.floor((Date.now() - Number(place.dataset.since)) / 60_000));
    put(place, place.dataset.minutes.replace("#", String(minutes)));
  }
  for (const place of part.querySelectorAll("[data-until]")) {
    // As the table shows it: a minute that has begun counts whole.
    const left = Math.ceil((Number(place.dataset.until) - Date.now()) / 60_000);
    const text = left > 0 ? place.dataset.left : left < 0 ? place.dataset.over : place.dataset.up;
    put(place, text.replace("#", String(Math.abs(left))));
    place.classList.toggle("up", left <= 0);
  }
}

function put(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/** A button that is another reader's is not there: all readers are sent the same page. */
function putOwn(part) {
  const me = document.body.dataset.me;
  for (const button of part.querySelectorAll("[data-mine]")) button.hidden = button.dataset.mine !== me;
  for (const button of part.querySelectorAll("[data-others]")) button.hidden = button.dataset.others === me;
}

// ---- the room ---------------------------------------------------------------------------------

const roomOf = (html) => new DOMParser().parseFromString(html, "text/html").getElementById("room");

function take(html) {
  const wanted = roomOf(html);
  putTimesIntoZone(wanted);
  putMinutes(wanted);
  putOwn(wanted);
  let arrived;
  try {
    arrived = morph(document.getElementById("room"), wanted);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    connect(); // a new stream begins with the whole room
    return;
  }
  if (document.title !== wanted.dataset.title) document.title = wanted.dataset.title;
  for (const element of arrived) element.setAttribute("data-arrived", "");
  for (const element of arrived.slice(0, NEWS)) say(element.dataset.news);
}

/** A sentence is added and not put in the place of the one before, which might not have been read aloud yet. */
function say(text) {
  const sentence = document.createElement("p");
  sentence.textContent = text;
  news.append(sentence);
  while (news.childElementCount > NEWS) news.firstElementChild.remove();
}

// ---- the line ---------------------------------------------------------------------------------

let source = null;
let attempts = 0;
let lastWord = new Date();
let nextAttempt = 0;
let settled = 0;
let attempted = 0;

// ---- a page that stands still while it is read -------------------------------------------------

const pause = document.getElementById("pause");
const held = document.getElementById("held");
let waiting = false; // whether there is a newer rendering
let heldSince = null;
const fresh = new Map(); // what has come since, by its key: whether it is a call

const paused = () => pause?.getAttribute("aria-pressed") === "true";

function goOnOrPause() {
  pause.setAttribute("aria-pressed", String(!paused()));
  if (!paused() && waiting) connect(); // what came meanwhile may build on what was not shown: start over
  waiting = false;
  fresh.clear();
  heldSince = new Date();
  held.hidden = !paused();
  if (paused()) tellHeld();
  else pause.focus({ preventScroll: true }); // the button that was pressed may have gone
}

/** Keep count of what a page that stands still does not show. A call is read aloud all the same. */
function hold(html) {
  const wanted = roomOf(html);
  waiting = true;
  const keysIn = (part) => new Set([...part.querySelectorAll("[data-key]")].map((one) => one.dataset.key));
  const here = keysIn(document.getElementById("room"));
  const there = keysIn(wanted);
  for (const key of fresh.keys()) if (!there.has(key)) fresh.delete(key);
  for (const one of wanted.querySelectorAll("[data-key][data-news], [data-key][data-counts]")) {
    const { key } = one.dataset;
    if (here.has(key) || fresh.has(key)) continue;
    fresh.set(key, one.classList.contains("call"));
    if (fresh.get(key)) say(one.dataset.news);
  }
  document.title = wanted.dataset.title;
  tellHeld();
}

function tellHeld() {
  const texts = held.dataset;
  const calls = [...fresh.values()].filter(Boolean).length;
  const others = fresh.size - calls;
  const parts = [texts.since.replace("#", clock(heldSince, false))];
  if (calls) parts.push(texts.calls.replace("#", String(calls)));
  if (others) parts.push(texts.new.replace("#", String(others)));
  if (!fresh.size) parts.push(waiting ? texts.changed : texts.nothing);
  put(held.querySelector("p"), parts.join(" · "));
  held.classList.toggle("urgent", calls > 0);
}

// ---- buttons that say who looks after what --------------------------------------------------------

/** Say it without leaving the page: what follows comes by the stream. What is refused is told where one looks. */
async function attend(event) {
  event.preventDefault();
  const { target: form, submitter: button } = event;
  const body = new URLSearchParams(new FormData(form));
  body.set(button.name, button.value);
  button.disabled = true; // until it is shown again
  showRefusal("");
  try {
    const headers = { Accept: "text/html" };
    const answer = await fetch(form.action, { method: "POST", body, headers, redirect: "manual" });
    if (answer.type === "opaqueredirect") return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    showRefusal(page.querySelector("#problem")?.textContent.trim() ?? String(answer.status));
  } catch {
    showRefusal(document.getElementById("lost").textContent);
  }
  button.disabled = false;
}

function showRefusal(text) {
  const banner = document.getElementById("refused");
  banner.textContent = text;
  banner.hidden = !text;
}

function connect() {
  clearTimeout(nextAttempt);
  source?.close();
  attempted = Date.now();
  source = new EventSource(document.body.dataset.events);
  source.addEventListener("page", (event) => {
    heard();
    if (paused()) hold(event.data);
    else take(event.data);
  });
  source.addEventListener("beat", heard);
  source.addEventListener("error", lost);
  source.addEventListener("bye", leave);
}

/** The session has ended: what is on the page is no longer this reader's to see. */
function leave() {
  source.close();
  location.reload();
}

/** A refused stream tells a script nothing but that it failed: so the page asks whether it may still be seen. */
async function mayStillLook() {
  try {
    const answer = await fetch("/view.json", { method: "HEAD", cache: "no-store" });
    if (answer.status === 401 || answer.status === 403) leave();
  } catch {
    // no line: the next attempt will tell
  }
}

function heard() {
  lastWord = new Date();
  attempts = 0;
  if (root.dataset.line === "lost") announce("again", lastWord);
  else if (root.dataset.line === "still") root.dataset.line = "live";
}

/** The browser's own reconnecting gives up on some answers and never waits longer: so it is done here. */
function lost() {
  source.close();
  if (root.dataset.line !== "lost") announce("lost", lastWord);
  mayStillLook();
  clearTimeout(nextAttempt);
  nextAttempt = setTimeout(connect, WAITS_MS[Math.min(attempts, WAITS_MS.length - 1)]);
  attempts += 1;
}

function announce(line, since) {
  const banner = document.getElementById(line);
  banner.querySelector("time").dateTime = since.toISOString();
  putTimesIntoZone(banner);
  root.dataset.line = line;
  say(banner.textContent);
  clearTimeout(settled);
  if (line === "again") settled = setTimeout(() => (root.dataset.line = "live"), AGAIN_MS);
}

function retryNow() {
  if (root.dataset.line === "lost" && document.visibilityState === "visible") connect();
}

if (document.getElementById("room")) {
  putTimesIntoZone(document.body);
  putMinutes(document.body);
  putOwn(document.body);
  connect();
  if (pause) {
    pause.hidden = false;
    for (const button of [pause, document.getElementById("go-on")]) button.addEventListener("click", goOnOrPause);
    document.addEventListener("keydown", (event) => {
      if (event.code !== "KeyP" || !event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      goOnOrPause();
    });
  }
  document.getElementById("attend")?.addEventListener("submit", attend);
  addEventListener("online", retryNow);
  document.addEventListener("visibilitychange", retryNow);
  setInterval(() => {
    putMinutes(document.body);
    if (paused()) tellHeld();
    if (Date.now() - Math.max(lastWord, attempted) > SILENCE_MS) lost();
  }, 1_000);
}
