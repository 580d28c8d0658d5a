// Live updates of the desk: receive renderings of the room from the event stream and morph the page into each.
// Only the server renders. Without this script the page is correct but does not update.

import { Missing, morph } from "./morph.js";
import { clock, putTimesIntoZone } from "./times.js";

const SILENCE_MS = 25_000; // two and a half heartbeats: then the connection is dead, whatever the browser thinks
const WAITS_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000]; // between attempts; the last one repeats
const AGAIN_MS = 8_000; // how long "live again" is shown
const NEWS = 4; // most sentences read aloud at once

const root = document.documentElement;
const news = document.getElementById("news");

// ---- time -------------------------------------------------------------------------------------

/** Show durations in whole minutes; without this script the page shows the start time. */
function putMinutes(part) {
  for (const place of part.querySelectorAll("[data-since][data-minutes]")) {
    const minutes = Math.max(0, Math.floor((Date.now() - Number(place.dataset.since)) / 60_000));
    put(place, place.dataset.minutes.replace("#", String(minutes)));
  }
  for (const place of part.querySelectorAll("[data-until]")) {
    // Rounded up, as the table shows it.
    const left = Math.ceil((Number(place.dataset.until) - Date.now()) / 60_000);
    const text = left > 0 ? place.dataset.left : left < 0 ? place.dataset.over : place.dataset.up;
    put(place, text.replace("#", String(Math.abs(left))));
    place.classList.toggle("up", left <= 0);
  }
}

function put(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/** Hide the buttons of other arbiters: all readers are sent the same page. */
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
    connect(); // a new stream starts with the whole room
    return;
  }
  if (document.title !== wanted.dataset.title) document.title = wanted.dataset.title;
  for (const element of arrived) element.setAttribute("data-arrived", "");
  for (const element of arrived.slice(0, NEWS)) say(element.dataset.news);
}

/** Have a sentence read aloud. It is appended, since the one before may not have been read yet. */
function say(text) {
  const sentence = document.createElement("p");
  sentence.textContent = text;
  news.append(sentence);
  while (news.childElementCount > NEWS) news.firstElementChild.remove();
}

// ---- the connection ---------------------------------------------------------------------------

let source = null;
let attempts = 0;
let lastWord = new Date();
let nextAttempt = 0;
let settled = 0;
let attempted = 0;

// ---- a paused page -----------------------------------------------------------------------------

const pause = document.getElementById("pause");
const held = document.getElementById("held");
let waiting = false; // whether there is a newer rendering
let heldSince = null;
const fresh = new Map(); // news since the pause by key, with whether it is a call

const paused = () => pause?.getAttribute("aria-pressed") === "true";

function goOnOrPause() {
  pause.setAttribute("aria-pressed", String(!paused()));
  if (!paused() && waiting) connect(); // later renderings build on some that were not shown: start over
  waiting = false;
  fresh.clear();
  heldSince = new Date();
  held.hidden = !paused();
  if (paused()) tellHeld();
  else pause.focus({ preventScroll: true }); // the pressed button may be hidden now
}

/** Count the news that a paused page does not show. Calls are read aloud all the same. */
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

// ---- buttons for calls and alerts -----------------------------------------------------------------

/** Send a button's form without leaving the page. The stream brings the effect; a refusal is shown on the page. */
async function attend(event) {
  event.preventDefault();
  const { target: form, submitter: button } = event;
  const body = new URLSearchParams(new FormData(form));
  body.set(button.name, button.value);
  button.disabled = true; // until the next rendering
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

/** Leave the page when the session has ended and its content may no longer be seen. */
function leave() {
  source.close();
  location.reload();
}

/** Check whether the page may still be seen: a script cannot tell a refused stream from a broken one. */
async function mayStillLook() {
  try {
    const answer = await fetch("/view.json", { method: "HEAD", cache: "no-store" });
    if (answer.status === 401 || answer.status === 403) leave();
  } catch {
    // no connection: the next attempt will show
  }
}

function heard() {
  lastWord = new Date();
  attempts = 0;
  if (root.dataset.line === "lost") announce("again", lastWord);
  else if (root.dataset.line === "still") root.dataset.line = "live";
}

/** Reconnect, as the browser itself would give up after some answers and never wait longer. */
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
