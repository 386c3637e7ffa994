/** A run that takes much of something, and ends: by itself, or by the limit that it meets. */
export interface ResourceEater {
  name: string
  programmingLanguage: 'JAVASCRIPT' | 'PYTHON'
  sourceCode: string
  parameters?: Record<string, unknown>
}

const large = { text: 'p'.repeat(900_000) }

const javascript: [name: string, sourceCode: string, parameters?: Record<string, unknown>][] = [
  ['buffers', 'const all = []; for (let n = 0; n < 40; n++) all.push(Buffer.alloc(10e6, 1)); return all.length'],
  ['logs', 'for (let n = 0; n < 50; n++) console.log("x".repeat(1e5)); return 1'],
  ['many lines', 'for (let n = 0; n < 2e5; n++) console.log("line " + n); return 1'],
  ['result', 'return "y".repeat(5e6)'],
  ['objects', 'const all = []; for (let n = 0; n < 2e6; n++) all.push({ n, text: "k" + n }); return all.length'],
  ['parameters', 'return svc.context.parameters.text.length', large],
  [
    'files',
    'const fs = require("fs"); for (let n = 0; n < 20; n++) fs.writeFileSync("f" + n, Buffer.alloc(5e6)); return 1',
  ],
  ['processes', 'for (let n = 0; n < 40; n++) require("child_process").spawn("sleep", ["2"]); return 1'],
  ['all memory', 'const all = []; for (;;) all.push(new Array(1e5).fill(1))'],
  ['time', 'const end = Date.now() + 2000; while (Date.now() < end); return 1'],
  [
    'threads',
    `const { Worker } = require("worker_threads")
     const one = () => new Promise((done) =>
       new Worker("const all = []; for (let n = 0; n < 1e6; n++) all.push({ n })", { eval: true }).on("exit", done))
     await Promise.all([one(), one(), one(), one()])
     return 1`,
  ],
]

const python: typeof javascript = [
  ['bytes', 'all = [bytes(10_000_000) for _ in range(40)]\nreturn len(all)'],
  ['logs', 'for _ in range(50): print("x" * 100_000)\nreturn 1'],
  ['many lines', 'for n in range(200_000): print("line", n)\nreturn 1'],
  ['result', 'return "y" * 5_000_000'],
  ['objects', 'all = [{"n": n} for n in range(1_000_000)]\nreturn len(all)'],
  ['parameters', 'return len(svc.context.parameters["text"])', large],
  ['files', 'for n in range(20): open(f"f{n}", "wb").write(bytes(5_000_000))\nreturn 1'],
  ['processes', 'import subprocess\nfor _ in range(40): subprocess.Popen(["sleep", "2"])\nreturn 1'],
  ['all memory', 'all = []\nwhile True: all.append([1] * 100_000)'],
  ['time', 'import time\nend = time.time() + 2\nwhile time.time() < end: pass\nreturn 1'],
]

/** One for each way to take much, 21 in all. */
export const resourceEaters: ResourceEater[] = [
  ...javascript.map((each) => eaterOf('JAVASCRIPT', ...each)),
  ...python.map((each) => eaterOf('PYTHON', ...each)),
]

function eaterOf(
  programmingLanguage: ResourceEater['programmingLanguage'],
  name: string,
  sourceCode: string,
  parameters?: Record<string, unknown>,
): ResourceEater {
  const eater = { name: `${name} in ${programmingLanguage}`, programmingLanguage, sourceCode }
  return parameters === undefined ? eater : { ...eater, parameters }
}
