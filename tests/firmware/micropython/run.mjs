// Real MicroPython (WebAssembly) with the repository's firmware on its file system. Each line of standard input is
// JSON for `answer` of serve.py; the line that comes back is JSON too.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { loadMicroPython } from "@micropython/micropython-webassembly-pyscript/micropython.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..", "..");
// As much heap as a Pico has.
const micropython = await loadMicroPython({ heapsize: 192 * 1024, stdout: (line) => console.error(line) });
const files = micropython.FS;

for (const folder of ["firmware", "firmware/box", "firmware/pico", "firmware/twins"]) {
  files.mkdir(`/${folder}`);
  for (const name of readdirSync(join(root, folder)).filter((name) => name.endsWith(".py"))) {
    files.writeFile(`/${folder}/${name}`, readFileSync(join(root, folder, name)));
  }
}
files.writeFile("/serve.py", readFileSync(join(here, "serve.py")));
micropython.runPython('import sys\nsys.path.append("/")\nimport serve');
const answer = micropython.globals.get("serve").answer;

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(answer(line) + "\n");
}
