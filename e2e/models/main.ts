import { writeFile } from 'node:fs/promises'
import { accessTokenOf, type Address } from '../client/client.ts'
import { openRegistry } from '../system/package-registry.ts'
import { randomSeed, readOptions, wholeNumber } from '@automation/testing/options'
import { endOnSignals, runAdmin, startSystem, type System } from '../system/system.ts'
import { executions } from './executions.ts'
import { explore, type Extent, type Finding } from './exploration.ts'
import { moduleNames, processNames } from './names.ts'
import { javascriptPackages, offered, pythonPackages } from './packages.ts'
import { limits } from './run-queue.ts'
import { mostSandboxes, sandboxes } from './sandboxes.ts'
import { schedules } from './schedules.ts'

type Explore = (address: Address, extent: Extent) => Promise<Finding>

/** Each goes on beside the others; those with a team of their own need to know all of its runs. */
const machines: Record<string, { explore: Explore; ownTeam?: boolean }> = {
  executions: { explore: (...on) => explore(executions, ...on), ownTeam: true },
  processNames: { explore: (...on) => explore(processNames, ...on) },
  moduleNames: { explore: (...on) => explore(moduleNames, ...on) },
  javascriptPackages: { explore: (...on) => explore(javascriptPackages, ...on) },
  pythonPackages: { explore: (...on) => explore(pythonPackages, ...on) },
  sandboxes: { explore: (...on) => explore(sandboxes, ...on) },
  schedules: { explore: (...on) => explore(schedules, ...on) },
}

const settings = {
  // The code of runs asks the witness, which listens on this machine's loopback.
  ISOLATION_NETWORK: 'host',
  TEAM_MAX_RUNNING: `${limits.running}`,
  TEAM_MAX_QUEUED: `${limits.queued}`,
  SYNC_WAIT_MAX_MS: '3000',
  TEAM_MAX_SANDBOXES: `${mostSandboxes}`,
}

const help = `npm run test:models [-- OPTIONS]

Does what can be done with ${Object.keys(machines).join(', ')}
in sequences that nobody has thought of, against the running system, and compares each answer with a small model.
A sequence that fails is shortened, and printed as calls.

  --seconds N       goes on for so long; without it a fixed number of sequences of each machine
  --runs N          so many sequences of each machine
  --seed S          repeats the choices of a former run; printed at the start
  --machine NAMES   only these, with commas between them
  --path P, --replay R   one sequence of a former run, as it printed them
  --json FILE       also writes the summary as JSON
  --help

Ends with 1 when the system and a model differ.
`

const options = readOptions(
  help,
  {
    seconds: { type: 'string' },
    runs: { type: 'string' },
    seed: { type: 'string', default: randomSeed },
    machine: { type: 'string' },
    path: { type: 'string' },
    replay: { type: 'string' },
    json: { type: 'string' },
  },
  ({ seconds, runs, seed, machine, path, replay, json }) => {
    const names = machine?.split(',') ?? Object.keys(machines)
    if (names.some((name) => !Object.hasOwn(machines, name))) return undefined
    const count = (text: string | undefined) =>
      text === undefined ? undefined : Number(text) >= 1 ? Number(text) : Number.NaN
    return { path, replay, json, seconds: count(seconds), runs: count(runs), seed: wholeNumber(seed), machines: names }
  },
)
type Options = typeof options

endOnSignals()
await test(options)

async function test({ machines: wanted, json, ...extent }: Options): Promise<void> {
  console.log(`${wanted.join(', ')}, seed ${extent.seed}`)
  const registry = await openRegistry(offered)
  const system = await startSystem({ team: 'models', env: { ...settings, ...registry.settings } })
  try {
    const shared = await address(system, system.team, system.apiToken)
    const own = wanted.some((name) => machines[name]?.ownTeam) ? await ownTeam(system) : shared
    const one = async (name: string) => {
      const machine = machines[name]
      if (machine === undefined) throw new RangeError(`There is no machine ${name}`)
      const finding = await machine.explore(machine.ownTeam ? own : shared, extent)
      console.log(lineOf(finding))
      return finding
    }
    const findings = await Promise.all(wanted.map(one))
    const failed = findings.filter(({ failure }) => failure !== undefined)
    const passed = findings.reduce((sum, { sequences }) => sum + sequences, 0) - failed.length
    const counts = { seed: extent.seed, passed, failed: failed.length }
    if (json) await writeFile(json, JSON.stringify({ ...counts, findings }, undefined, 2))
    if (failed.length === 0) return
    console.log(`The system's last words:\n${(await system.output()).slice(-3000)}`)
    for (const { machine, failure } of failed) console.log(`\nDIFFERS ${machine}: ${failure}`)
    process.exitCode = 1
  } finally {
    await system.stop()
    await registry.close()
  }
}

function lineOf({ machine, sequences, steps, seconds, failure }: Finding): string {
  const verdict = failure === undefined ? 'agrees' : 'DIFFERS'
  return `${machine.padEnd(14)} ${verdict} in ${sequences} sequences of ${steps} steps, ${seconds.toFixed(1)} s`
}

async function address(system: System, team: string, apiToken: string): Promise<Address> {
  return { host: system.host, team, accessToken: await accessTokenOf(system.host, team, apiToken) }
}

async function ownTeam(system: System): Promise<Address> {
  const team = 'runs'
  await admin(system, 'teams', 'create', team)
  return address(system, team, (await admin(system, 'tokens', 'create', team)).trim())
}

async function admin(system: System, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runAdmin(args, system.env)
  if (code !== 0) throw new Error(`admin ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`)
  return stdout
}
