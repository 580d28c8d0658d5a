// Preserve what was typed in other steps when one step is sent: the server gets one form and renders the page anew.
// Typed values are passed on to the next page of the same person, and then deleted.
import { putFile } from "./forms.js";

const STORED = "typed";
const LARGE = 100_000; // characters; browsers store some millions
const typed = new Set(); // fields; for a chosen file, the field that shows it
const visitor = document.querySelector(".steps [name=form]")?.value; // differs for each login
const stored = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
const { sent, kept } = stored.visitor === visitor && stored.kept ? stored : { kept: [] };
sessionStorage.removeItem(STORED);

// A form without a button cannot be sent: the event has started. A movement's preview and its making are one step.
const sentBy = (action) => (action === "look_movement" ? "make_movement" : action);
const stepOf = (form) => form?.elements.opened && sentBy(form.querySelector("[name=action]")?.value);
const isTicked = (field) => ["checkbox", "radio"].includes(field.type);
const keyOf = (field) => [stepOf(field.form), field.dataset.name ?? field.name, isTicked(field) && field.value].join();

const fields = [...document.querySelectorAll(".steps form :is(input, select, textarea)")];
for (const { key, value, checked, file, opened } of kept) {
  const field = fields.find((one) => keyOf(one) === key);
  if (!field) continue;
  const { form } = field;
  if (stepOf(form) !== sent) {
    if (file) putFile(field, file, value);
    else if (isTicked(field)) field.checked = checked;
    else field.value = value;
    form.elements.opened.value = opened; // so that changes made elsewhere since then are still reported
    for (let part = field.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  } else if (document.getElementById("done")) continue;
  typed.add(field);
}

addEventListener("input", ({ target }) => {
  const confirms = target.matches("[data-confirms]"); // a confirmation, valid for this sending only
  if (stepOf(target.form) && target.type !== "file" && !confirms) typed.add(target);
});
addEventListener("submit", ({ target }) => {
  if (!stepOf(target)) return; // logging out
  const now = [...typed].map((field) => ({
    key: keyOf(field),
    value: field.value,
    checked: field.checked,
    file: field.readOnly && field.form.querySelector("[data-file]")?.value,
    opened: field.form.elements.opened.value,
  }));
  const store = (kept) => sessionStorage.setItem(STORED, JSON.stringify({ visitor, sent: stepOf(target), kept }));
  try {
    store(now);
  } catch {
    store(now.filter(({ value, file }) => (file || value).length < LARGE)); // larger files must be chosen again
  }
});
