import { diskFull, either, forever, mark, refused, timedOut, type Attack } from './attack.ts'

/** What opens or writes too many files. */
export const files: Attack[] = [
  {
    name: 'opens file after file',
    ends: /EMFILE|Too many open files/,
    javascript: 'const fs = require("fs"); for (let n = 0; n < 1e6; n++) fs.openSync("/dev/null")',
    python: 'import os\nwhile True: os.open("/dev/null", os.O_RDONLY)',
  },
  {
    name: 'opens socket after socket',
    ends: /EMFILE|Too many open files/,
    javascript:
      'for (;;) await new Promise((ok, no) => require("net").createServer().on("error", no).listen(0, "127.0.0.1", ok))',
    python: 'import socket\na = []\nwhile True: a.append(socket.socket())',
  },
  {
    name: 'writes one huge file',
    ends: diskFull,
    javascript: 'const fs = require("fs"), f = fs.openSync("big", "w"); for (;;) fs.writeSync(f, Buffer.alloc(1e6))',
    python: 'with open("big", "wb", 0) as f:\n    while True: f.write(bytes(1_000_000))',
  },
  {
    name: 'writes many large files and deletes their names',
    ends: either(diskFull, timedOut),
    javascript: `const fs = require("fs"); for (let n = 0; n < 60; n++) { const f = fs.openSync("f", "w"); fs.unlinkSync("f"); fs.writeSync(f, Buffer.alloc(1e6)) } ${forever}`,
    python:
      'import os, time\nheld = []\nfor n in range(60):\n    f = open("f", "wb", 0)\n    os.unlink("f")\n    f.write(bytes(1_000_000))\n    held.append(f)\ntime.sleep(1000)',
    timeoutMs: 1500,
  },
  {
    name: 'fills the shared memory directory',
    ends: either(diskFull, refused),
    javascript:
      'const fs = require("fs"), f = fs.openSync("/dev/shm/big", "w"); for (;;) fs.writeSync(f, Buffer.alloc(1e6))',
    python: 'with open("/dev/shm/big", "wb", 0) as f:\n    while True: f.write(bytes(1_000_000))',
  },
  {
    name: 'fills the directory for all',
    ends: either(diskFull, refused),
    javascript: `const fs = require("fs"), f = fs.openSync("/tmp/big-${mark}", "w"); for (;;) fs.writeSync(f, Buffer.alloc(1e6))`,
    python: `with open("/tmp/big-${mark}", "wb", 0) as f:\n    while True: f.write(bytes(1_000_000))`,
  },
  {
    name: 'makes a million small files',
    ends: diskFull,
    javascript: 'const fs = require("fs"); for (let n = 0; n < 1e6; n++) fs.writeFileSync("f" + n, "")',
    python: 'for n in range(1_000_000): open(f"f{n}", "w").close()',
    timeoutMs: 60_000,
  },
  {
    name: 'makes directories deeper than any path is long',
    ends: { value: 1 },
    javascript:
      'const fs = require("fs"); for (let n = 0; n < 1010; n++) { fs.mkdirSync("ddddddddd"); process.chdir("ddddddddd") } return 1',
    python: 'import os\nfor n in range(1010):\n    os.mkdir("ddddddddd")\n    os.chdir("ddddddddd")\nreturn 1',
  },
  {
    name: 'leaves files and directories that may not be read',
    ends: { value: 1 },
    javascript:
      'const fs = require("fs"); fs.mkdirSync("a/b", { recursive: true }); fs.writeFileSync("a/b/c", "c"); fs.chmodSync("a/b/c", 0); fs.chmodSync("a/b", 0); fs.chmodSync("a", 0); return 1',
    python:
      'import os\nos.makedirs("a/b")\nopen("a/b/c", "w").close()\nfor p in ("a/b/c", "a/b", "a"): os.chmod(p, 0)\nreturn 1',
  },
]
