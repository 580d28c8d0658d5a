// Load a chosen file into the text field beside it, so that it can be checked and corrected before it is sent.
for (const input of document.querySelectorAll("input[data-into]")) {
  input.closest("[hidden]").hidden = false;
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (file) put(document.getElementById(input.dataset.into), new Uint8Array(await file.arrayBuffer()), file.name);
  });
}

function put(field, bytes, name) {
  const { form } = field;
  field.dataset.name ??= field.name;
  form.querySelector("[data-file]")?.remove();
  const text = textOf(bytes);
  field.name = field.dataset.name;
  field.value = text;
  field.readOnly = false;
  const letters = () => Array.from(bytes, (one) => String.fromCharCode(one)).join("");
  if (text === null) putFile(field, `data:;base64,${btoa(letters())}`, name);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

/** Send a file that is not UTF-8, such as a workbook, unchanged; the field shows its name. */
export function putFile(field, value, name) {
  field.dataset.name = field.name;
  const file = Object.assign(document.createElement("input"), { type: "hidden", name: field.name, value });
  file.dataset.file = "";
  field.value = name;
  field.readOnly = true;
  field.removeAttribute("name");
  field.form.append(file);
}

function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

// In some fields Enter presses another button than the form's first; in a select element it would press none.
for (const fields of document.querySelectorAll("[data-enter]")) {
  fields.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !["INPUT", "SELECT"].includes(event.target.tagName)) return;
    event.preventDefault();
    const form = event.target.form;
    form.requestSubmit(form.querySelector(`button[value="${fields.dataset.enter}"]`));
  });
}

// A form returns to its own step, but refusals are shown above all steps, so move the focus there.
const refused = document.getElementById("problem");
if (refused) {
  addEventListener("load", () => {
    refused.tabIndex = -1;
    refused.focus();
  });
}
