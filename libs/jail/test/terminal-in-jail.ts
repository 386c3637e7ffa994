import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Environment } from '@automation/service'
import { silentLogger } from '@automation/testing'
import { findInterpreter, Launcher, readIsolationConfig } from '../src/index.ts'

// Run by whoever it is about: has a program in a jail open a terminal, and prints what it found, as JSON; nothing where there
// is no jail to be had.

const interpreter = await findInterpreter('python3')
const look = `
import json, os
def refused(work):
    try:
        work()
    except (OSError, AttributeError) as error:
        return True
    return False
main, side = os.openpty()
os.write(side, b"over the terminal")
found = {
    "terminal": os.ttyname(side), "read": os.read(main, 100).decode(), "uid": os.getuid(), "home": os.stat(os.environ["HOME"]).st_uid,
    "capabilities": [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")][0].strip("0"),
    "mayBecomeRoot": not refused(lambda: os.setuid(0)), "namespaces": open("/proc/sys/user/max_user_namespaces").read().strip(),
    "mayRaiseThem": not refused(lambda: open("/proc/sys/user/max_user_namespaces", "w").write("9")),
}
os.write(4, json.dumps(found).encode())
`
const program = {
  program: [interpreter.path, '-I', '-S', '-c', look],
  environment: { PATH: '/usr/bin:/bin', HOME: '' },
  dataLimitBytes: 2 ** 30,
}
const tmpDir = mkdtempSync(join(tmpdir(), 'jail-'))
const launcher = await Launcher.prepare({
  name: 'test',
  interpreter,
  tmpDir,
  account: 'sandbox',
  home: '/home/sandbox',
  homeMb: 16,
  processes: 64,
  terminals: true,
  isolation: { ...readIsolationConfig(new Environment({ ISOLATION: 'namespaces' })), network: 'host' as const },
  mounts: [],
  trials: [program],
  logger: silentLogger,
}).catch(() => undefined)
if (launcher !== undefined) {
  const { channels, control, output, errors } = await launcher.start(program)
  for (const stream of [output, errors]) stream.onBytes((bytes) => process.stderr.write(bytes))
  control.resume()
  process.stdout.write(await text(channels[1]!))
  launcher.close()
}
rmSync(tmpDir, { recursive: true, force: true })
process.exit()
