import { createInterface } from 'node:readline'
import {
  endOnSignals,
  removeTraces,
  runAdmin,
  startSystem,
  systemFolder,
  systemSettings,
  type System,
} from '../system/system.ts'

// For tests in other languages. Starts a system, with the settings that the arguments have as NAME=VALUE, and says on
// stdout where it is, as a line of JSON. A line `restart` on stdin kills it, starts it again at the same address, and
// says so by another line; a line `team NAME` makes another team and says how to reach that, or why not. It ends with stdin.

endOnSignals()
const dataDir = await systemFolder('automation-clients-')
const given = process.argv.slice(2).map((setting) => setting.split('=', 2) as [string, string])
const env = { ...(await systemSettings(dataDir, 'clients')), ...Object.fromEntries(given) }

let system = await start()
for await (const line of createInterface(process.stdin)) {
  const [word, name = ''] = line.split(' ')
  if (word === 'team') await makeTeam(name)
  if (word !== 'restart') continue
  await system.kill()
  system = await start()
}
await system.stop()
await removeTraces(dataDir)

async function start(): Promise<System> {
  const started = await startSystem({ team: 'clients', dataDir, env })
  const { host, team, apiToken } = started
  console.log(JSON.stringify({ host, team, apiToken }))
  return started
}

async function makeTeam(team: string): Promise<void> {
  await runAdmin(['teams', 'create', team], system.env)
  const { stdout, stderr } = await runAdmin(['tokens', 'create', team, '--scopes', 'executor,admin'], system.env)
  const { host } = system
  console.log(JSON.stringify(stdout === '' ? { error: stderr.trim() } : { host, team, apiToken: stdout.trim() }))
}
