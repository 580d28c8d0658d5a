// What is typed in other steps is still there when one has been sent: the server is sent one form, and makes the page
// anew. It goes from one page to the next of the same person, and is kept no longer.
import { putFile } from "./forms.js";

const STORED = "typed";
const LARGE = 100_000; // characters: browsers keep some millions
const typed = new Set(); // fields; of a file that was chosen, the one that shows it
const visitor = document.querySelector(".steps [name=form]")?.value; // of each login another
const stored = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
const { sent, kept } = stored.visitor === visitor && stored.kept ? stored : { kept: [] };
sessionStorage.removeItem(STORED);

// Without a button a form cannot be sent: the event has started. A movement is previewed in one form and taken in the next.
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
    form.elements.opened.value = opened; // what has been changed elsewhere since then is still told
    for (let part = field.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  } else if (document.getElementById("done")) continue;
  typed.add(field);
}

addEventListener("input", ({ target }) => {
  const confirms = target.matches("[data-confirms]"); // what is sent with it now, and nothing later
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
    store(now.filter(({ value, file }) => (file || value).length < LARGE)); // what is larger is chosen again
  }
});
