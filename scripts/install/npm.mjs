import { spawn } from 'node:child_process'
import { basename, delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { faultOfNpm } from './faults.mjs'
import { progressLine } from './progress.mjs'
import { onPath, packageCount } from './state.mjs'

/**
 * Runs `npm ci` and shows how far it is. Install scripts of packages are left out: none is needed but PostgreSQL's,
 * which `install` makes up for. Optional packages are taken whatever npm's settings are: Node 26 is one.
 */
export async function runNpm(root) {
  const startedAt = Date.now()
  const elapsed = () => `${Math.round((Date.now() - startedAt) / 1000)} s`
  const line = progressLine()
  const expected = packageCount(root)
  const output = []
  let fetched = 0
  let trouble = ''
  const show = () => {
    const what =
      fetched === 0 ? 'looking at the packages' : `${Math.min(fetched, expected)} of ${expected} packages fetched`
    line.show(`Installing: ${what}, ${elapsed()}${trouble}`)
  }

  process.stderr.write('Installing the packages that package-lock.json names (once, until it changes).\n')
  const child = start(root)
  const timer = setInterval(show, 250)
  createInterface({ input: child.stdout }).on('line', (text) => output.push(text))
  createInterface({ input: child.stderr }).on('line', (text) => {
    if (/^npm http fetch GET 200 .*\.tgz /.test(text)) fetched += 1
    else if (text.startsWith('npm http fetch') && /attempt \d+ failed/.test(text))
      trouble = '; the registry does not answer, trying again'
    else if (!text.startsWith('npm http')) output.push(text)
  })
  const forward = (signal) => child.kill(signal)
  process.on('SIGINT', forward).on('SIGTERM', forward)
  try {
    const ended = await endOf(child)
    if (ended !== 0) throw faultOfNpm(ended, output)
  } finally {
    clearInterval(timer)
    line.end()
    process.off('SIGINT', forward).off('SIGTERM', forward)
  }
  process.stderr.write(`Installed in ${elapsed()}.\n`)
}

function start(root) {
  const flags = ['ci', '--ignore-scripts', '--include=dev', '--include=optional', '--loglevel=http']
  const quiet = ['--progress=false', '--no-audit', '--no-fund', '--json=false', '--dry-run=false']
  const [program, ...first] = npmProgram()
  return spawn(program, [...first, ...flags, ...quiet], {
    cwd: root,
    env: { ...process.env, PATH: pathWithout(join(root, 'node_modules', '.bin')) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** The npm that runs this command, with its own Node; else the one on the PATH. */
function npmProgram() {
  const { npm_execpath: cli, npm_node_execpath: node } = process.env
  if (cli !== undefined && node !== undefined && basename(cli) === 'npm-cli.js') return [node, cli]
  if (!onPath('npm')) throw faultOfNpm('ENOENT', [])
  return ['npm']
}

/** npm removes node_modules before it fills it, so it must not run on the Node in there. */
function pathWithout(folder) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((entry) => entry !== folder)
    .join(delimiter)
}

/** Its exit code, the signal that ended it, or the reason why it did not start. */
function endOf(child) {
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.code))
    child.on('close', (code, signal) => resolve(code ?? signal))
  })
}
