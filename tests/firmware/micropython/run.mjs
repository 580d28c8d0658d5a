// Real MicroPython (WebAssembly) with what is flashed on its file system. Each line of standard input is
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


function load(folder, inside) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const [from, to] = [join(folder, entry.name), `${inside}/${entry.name}`];
    if (entry.isDirectory()) {
      files.mkdir(to);
      load(from, to);
    } else files.writeFile(to, readFileSync(from));
  }
}

load(process.argv[2], "");
// The pins and the cable that a Pico has are simulated.
files.mkdir("/firmware/sim");
for (const name of ["__init__.py", "pico.py"]) {
  files.writeFile(`/firmware/sim/${name}`, readFileSync(join(root, "firmware/sim", name)));
}
files.writeFile("/serve.py", readFileSync(join(here, "serve.py")));
micropython.runPython('import sys\nsys.path.append("/")\nimport serve');
const answer = micropython.globals.get("serve").answer;

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(answer(line) + "\n");
}
