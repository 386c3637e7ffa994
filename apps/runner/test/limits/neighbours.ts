import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '@automation/testing/free-ports'
import { readOptions, wholeNumber } from '@automation/testing/options'
import { attacks } from './judged.ts'
import type { Attack, Language } from './attack.ts'

const help = `npm run test:neighbours -- [--only PATTERN] [--seconds N] [--rounds N]

What a team feels of another team's attacks on the same machine: it calls the webhook of a no-op each 20 ms, before and
during each, in the whole system, in rounds. A figure is the median of its rounds: a stall of the machine itself spoils one
of them. Fails where a neighbour's p95 doubles. Settings of the system come from the environment.

  --only PATTERN   attacks whose names match it; all of them take 40 minutes, on a machine that does nothing else
  --seconds N      during an attack, for each round (4)
  --rounds N       (3)
  --help           this text
`
const everyMs = 20
const beforeMs = 3000
const { only, seconds, rounds } = readOptions(
  help,
  {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
  },
  (given) => ({
    only: new RegExp(given.only),
    seconds: wholeNumber(given.seconds, 1),
    rounds: wholeNumber(given.rounds, 1),
  }),
)
const languages: Language[] = ['javascript', 'python']
const root = join(import.meta.dirname, '../../../..')
const folder = mkdtempSync(join(tmpdir(), 'neighbours-'))

/** The REST interface for one team. */
interface Team {
  call<T>(method: string, path: string, body?: unknown): Promise<T>
  webhook: string
}

type System = Awaited<ReturnType<typeof start>>

async function start() {
  const [port, publicPort, grpcPort] = await freePorts(3)
  const env = {
    ...process.env,
    PORT: String(port),
    SANDBOX_PUBLIC_PORT: String(publicPort),
    SANDBOX_GRPC_PORT: String(grpcPort),
    CONSOLE_PORT: '0',
    DATA_DIR: folder,
    // As the machine may give runs no network of their own.
    ISOLATION_MANY_TEAMS: 'true',
  }
  const system = spawn(process.execPath, [join(root, 'apps/embedded/src/main.ts')], { env, stdio: 'ignore' })
  const gone = new Promise((resolve) => system.once('exit', resolve))
  const url = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  while (!(await isReady())) {
    if (system.exitCode !== null) throw new Error('the system does not start')
    await sleep(50)
  }
  const admin = (...words: string[]) =>
    execFileSync(process.execPath, [join(root, 'apps/embedded/src/admin/main.ts'), ...words], { env })
      .toString()
      .trim()
  return { url, admin, stop: () => (system.kill(), gone) }
}

async function teamOf({ url, admin }: System, slug: string): Promise<Team> {
  admin('teams', 'create', slug)
  const base = `${url}/api/${slug}/rest`
  const token = admin('tokens', 'create', slug)
  const exchanged = await fetch(`${base}/auth/token`, { method: 'POST', headers: { 'x-api-token': token } })
  const { access_token: bearer } = (await exchanged.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }
  async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await fetch(base + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return (await answer.json()) as T
  }
  return { call, webhook: `${url}/api/${slug}/webhooks` }
}

/** Times of no-ops, in ms, for so long; each begins at its time, whether or not others have ended. */
async function timesOf({ webhook }: Team, ms: number): Promise<number[]> {
  const times: number[] = []
  const open: Promise<void>[] = []
  const since = performance.now()
  for (let n = 0; performance.now() - since < ms; n += 1) {
    await sleep(Math.max(0, since + n * everyMs - performance.now()))
    const began = since + n * everyMs
    const called = async () => {
      const answer = await fetch(`${webhook}/no-op`)
      await answer.arrayBuffer()
      times.push(answer.ok ? performance.now() - began : Infinity)
    }
    open.push(called())
  }
  await Promise.all(open)
  return times.toSorted((a, b) => a - b)
}

/** Makes a process of an attack; gives its slug. */
async function stored({ call }: Team, attack: Attack, language: Language): Promise<string> {
  const slug = `attack-${attacks.indexOf(attack)}-${language}`
  const programmingLanguage = language.toUpperCase()
  await call('POST', '/processes', { name: slug, slug, programmingLanguage, sourceCode: attack[language] })
  return slug
}

/** Attacks, one after the other, until told to stop. */
function attackOver({ call }: Team, slug: string, { timeoutMs = 3000 }: Attack) {
  const settings = { timeout: Math.max(3000, Math.min(timeoutMs, 5000)) }
  let isOver = false
  let count = 0
  const attacking = async () => {
    for (; !isOver; count += 1) {
      const { executionId: id } = await call<{ executionId: string }>('POST', `/processes/${slug}/execute`, {
        settings,
      })
      while (!['FINISHED', 'ERROR'].includes((await call<{ status: string }>('GET', `/executions/${id}`)).status))
        await sleep(200)
    }
  }
  const done = attacking()
  return { stop: () => ((isOver = true), done), count: () => count }
}

/** Of sorted figures the one below which such a share of them is. */
const percentile = (sorted: number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
/** The median over rounds. */
const p = (rounds: number[][], share: number) => {
  const each = rounds.map((times) => percentile(times, share))
  return percentile(
    each.toSorted((a, b) => a - b),
    0.5,
  )
}
const shown = (rounds: number[][], ...shares: number[]) =>
  shares.map((share) => p(rounds, share).toFixed(1)).join(' / ')

async function measure(system: System): Promise<void> {
  const [neighbour, attacker] = [await teamOf(system, 'neighbour'), await teamOf(system, 'attacker')]
  await neighbour.call('POST', '/processes', {
    name: 'no-op',
    slug: 'no-op',
    programmingLanguage: 'JAVASCRIPT',
    sourceCode: 'return 1',
    webhook: { enabled: true },
  })
  await timesOf(neighbour, beforeMs)
  console.log('attack'.padEnd(62), 'attacks   before p50/p95    during p50/p95/p99      ratio')
  for (const attack of attacks.filter(({ name }) => only.test(name))) {
    for (const language of languages) {
      if (attack[language] === undefined) continue
      const slug = await stored(attacker, attack, language)
      const [before, during]: [number[][], number[][]] = [[], []]
      let attacked = 0
      for (let round = 0; round < rounds; round += 1) {
        before.push(await timesOf(neighbour, beforeMs))
        const { stop, count } = attackOver(attacker, slug, attack)
        during.push(await timesOf(neighbour, seconds * 1000))
        await stop()
        attacked += count()
      }
      const ratio = p(during, 0.95) / p(before, 0.95)
      console.log(
        `${attack.name} (${language})`.padEnd(62),
        String(attacked).padStart(7),
        shown(before, 0.5, 0.95).padStart(16),
        shown(during, 0.5, 0.95, 0.99).padStart(22),
        ratio.toFixed(2).padStart(8),
        ratio >= 2 ? '!' : '',
      )
      if (ratio >= 2) process.exitCode = 1
    }
  }
}

const system = await start()
try {
  await measure(system)
} finally {
  await system.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
