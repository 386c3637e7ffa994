import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readOptions } from '@automation/testing/options'
import { repositoryRoot } from '../system/system.ts'
import { waitUntil } from '../system/wait-until.ts'
import { admin } from './admin.ts'
import { say } from './commands.ts'
import { firstRun, runInPool, seconds } from './first-run.ts'
import { monitoring } from './monitoring.ts'
import { network } from './network.ts'
import { drain, eviction, fullNode, taintedNode, twentyTeams } from './nodes.ts'
import { untilGone } from './objects.ts'
import { allCalled, asOperator, makeTeams } from './operator.ts'
import { Release } from './release.ts'
import { SteadyLoad, type Verdict } from './steady-load.ts'
import { trial } from './trial.ts'
import { Warnings } from './warnings.ts'

const otherTeam = 'e2e-other'

const help = `npm run test:cluster [-- OPTIONS]

Installs the chart on the cluster that KUBECONFIG names, and tries what is promised there: \`helm test\`, the suite over REST
with two teams, the operator's command in a pod, a run in a further pool, what user code reaches over the network, what monitoring finds, a pod of each service killed while runs go on,
the services' certificates replaced, a node that is drained, one that takes a runner pod away, one that is tainted for user code and a full one, twenty teams at once, an
upgrade between two builds under load and the way back, an uninstall that leaves nothing, and a trial from nothing. In namespaces of its own, on the
database and brokers that the environment names as pods reach them. For a cluster with nothing else on it: its first node is drained,
tainted and filled.

  --tag TAG         of the images that the nodes have
  --next-tag TAG    of those that the upgrade goes to; without, the upgrade goes to the same images
  --registry HOST   of both (localhost)
  --trial-tag TAG   of trial-postgres, trial-s3 and trial-kafka, images for a trial; without, none is tried
  --only A,B        of install, test, admin, pools, network, monitoring, suite, kills, certificates, drain, eviction, taint, full, teams, upgrade, rollback, uninstall, trial; install
                    and uninstall always
  --rate N          calls a second during the upgrade and the rollback, at most (50)
  --set NAME=VALUE  more values of the chart; may be given several times
  --keep            leaves the release and its namespace, and tries no trial
  --report FILE     also writes the counts as JSON
  --help

KUBECONFIG, DATABASE_URL (an empty database) and, where events go to Kafka, KAFKA_BROKERS; for storage S3_ENDPOINT, S3_BUCKET,
S3_ACCESS_KEY and S3_SECRET_KEY. Wants helm and kubectl.
`

const options = readOptions(
  help,
  {
    tag: { type: 'string' },
    'next-tag': { type: 'string' },
    registry: { type: 'string', default: 'localhost' },
    'trial-tag': { type: 'string' },
    only: { type: 'string' },
    rate: { type: 'string', default: '50' },
    set: { type: 'string', multiple: true, default: [] },
    keep: { type: 'boolean', default: false },
    report: { type: 'string' },
  },
  ({ tag, 'next-tag': nextTag, 'trial-tag': trialTag, only, rate, ...others }) => {
    const missing = ['KUBECONFIG', 'DATABASE_URL'].filter((name) => !process.env[name])
    if (tag === undefined) missing.push('--tag')
    if (missing.length > 0) console.error(`missing: ${missing.join(', ')}\n`)
    if (tag === undefined || missing.length > 0) return undefined
    return { ...others, tag, nextTag, trialTag, only: only?.split(','), ratePerS: Number(rate) }
  },
)
type Options = typeof options

await tryRelease(options)

/** Each phase counts as one test; the suite's own are printed by it. */
async function tryRelease(options: Options): Promise<void> {
  const release = new Release(options)
  const counts = { passed: 0, failed: 0, failures: new Array<string>() }
  let made: Promise<string> | undefined
  const otherToken = () => (made ??= makeTeams(release, [otherTeam]).then((tokens) => tokens.get(otherTeam)!))
  const phase = async (name: string, work: () => Promise<string>) => {
    const isAsked = options.only?.includes(name) ?? true
    if (!isAsked && !['install', 'uninstall'].includes(name)) return
    const began = performance.now()
    say(`${name} …`)
    try {
      const words = await work()
      counts.passed += 1
      say(`ok ${name} in ${seconds(performance.now() - began)} s: ${words}`)
    } catch (error) {
      counts.failed += 1
      counts.failures.push(`${name}: ${(error as Error).message}`)
      say(`FAIL ${name}: ${(error as Error).message}`)
      console.log(await release.lastWords())
    }
  }
  await release.prepare()
  await phase('install', () => install(release))
  if (counts.failed === 0) {
    await phase('test', async () => lastLineOf(await release.test()))
    await phase('admin', () => admin(release))
    await phase('pools', async () => runInPool(await release.client(), 'large'))
    await phase('network', async () =>
      network(release, await release.client(), await release.client(otherTeam, await otherToken())),
    )
    await phase('monitoring', () => monitoring(release))
    await phase('suite', async () => suite(release, await otherToken()))
    await phase('kills', () => kills(release))
    await phase('certificates', () => certificates(release))
    await phase('drain', () => drain(release))
    await phase('eviction', () => eviction(release))
    await phase('taint', () => taintedNode(release))
    await phase('full', () => fullNode(release))
    await phase('teams', () => twentyTeams(release))
    await phase('upgrade', () => change(release, options.ratePerS, () => release.upgrade()))
    // The release before on the database of the newer one, beside what is left of its pods.
    await phase('rollback', () => change(release, options.ratePerS, () => release.rollback()))
  }
  if (!options.keep) {
    await phase('uninstall', () => uninstall(release))
    const { registry, tag, trialTag: serversTag } = options
    // By itself, and at the ports of the release before it.
    if (serversTag !== undefined) await phase('trial', () => trial(release, { registry, tag, serversTag }))
    await release.remove()
  }
  if (options.report !== undefined) await writeFile(options.report, JSON.stringify(counts))
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  process.exitCode = counts.failed === 0 ? 0 : 1
}

/** Until the first run has given its value. */
async function install(release: Release): Promise<string> {
  const began = performance.now()
  await release.install()
  const installedMs = performance.now() - began
  await firstRun(await release.client())
  return `helm said done after ${seconds(installedMs)} s, the first run had ended after ${seconds(performance.now() - began)} s`
}

/** The whole suite through the Service, which is also the operator. */
function suite(release: Release, otherToken: string): Promise<string> {
  return asOperator(release, allCalled, (operator) => suiteAs(operator, release, otherToken))
}

async function suiteAs(operator: Record<string, string>, release: Release, otherToken: string): Promise<string> {
  // Where what a team leaves outside of the database is looked for.
  const outside = Object.entries(process.env).filter(([name]) => /^(KAFKA_BROKERS|S3_\w+|KUBECONFIG)$/.test(name))
  const operatorEnv = { ...operator, ...Object.fromEntries(outside), E2E_NAMESPACES: release.namespaces.join() }
  const env = {
    ...process.env,
    E2E_BASE_URL: release.host,
    E2E_TEAM: release.team,
    E2E_API_TOKEN: await release.token(),
    E2E_OTHER_TEAM: otherTeam,
    E2E_OTHER_API_TOKEN: otherToken,
    E2E_OPERATOR: JSON.stringify({ env: operatorEnv, databaseUrl: process.env['DATABASE_URL'] }),
  }
  const folder = await mkdtemp(join(tmpdir(), 'automation-cluster-'))
  const report = join(folder, 'suite.json')
  try {
    const args = ['scripts/test.ts', '--only', 'e2e', '--again', '--report', report]
    const child = spawn(process.execPath, args, { cwd: repositoryRoot, env, stdio: 'inherit' })
    const [code] = (await once(child, 'close')) as [number | null]
    const { passed, failures } = JSON.parse(await readFile(report, 'utf8')) as { passed: number; failures: string[] }
    if (code !== 0) throw new Error(`${failures.length} of the suite's tests failed\n${failures.join('\n')}`)
    return `${passed} tests through the Service`
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A pod of each component dies while runs go on. A run on a runner that dies is ERROR, a call on a gateway's breaks. */
async function kills(release: Release): Promise<string> {
  const load = new SteadyLoad(await release.client(), 15)
  await load.start()
  for (const component of [
    'gateway',
    'process-catalog',
    'execution',
    'scheduler',
    'storage',
    'sandbox',
    'runner',
    'runner-pod',
  ]) {
    const [victim] = await release.pods(component)
    if (victim === undefined) continue
    await delay(1000)
    await release.kill(victim)
    await delay(1000)
    await release.untilWhole(120_000)
    say(`killed ${victim.metadata.name}, whole again`)
  }
  await delay(1000)
  await load.stop()
  return judgedWithKills(await load.verdict(90_000))
}

/** What may become of calls and runs where pods die. */
function judgedWithKills(verdict: Verdict): string {
  return judged(verdict, /^(2\d\d|50[34]|error of a run|broken by .+|late|5\d\d when looked at)$/)
}

/** The services have other certificates while calls come in; pods that start then find those that run, and are found. */
async function certificates(release: Release): Promise<string> {
  const components = ['gateway', 'process-catalog', 'execution', 'scheduler', 'storage', 'sandbox', 'runner-pod']
  const names = async () =>
    (await Promise.all(components.map((component) => release.pods(component))))
      .flat()
      .map(({ metadata }) => metadata.name)
  const pods = await names()
  const load = new SteadyLoad(await release.client(), 5)
  await load.start()
  const [since, began] = [new Date().toISOString(), performance.now()]
  await release.certificates.issue()
  const areTaken = async () => {
    const logs = await release.logs('--tail=-1', `--since-time=${since}`)
    const lines = logs.split('\n').filter((line) => line.includes('new connections use another certificate'))
    const areThere = await names()
    return pods.every((pod) => !areThere.includes(pod) || lines.some((line) => line.includes(`/${pod}/`)))
  }
  await waitUntil('all pods to use the new certificate', areTaken, { timeoutMs: 180_000, everyMs: 2000 })
  const tookS = seconds(performance.now() - began)
  for (const component of ['process-catalog', 'execution', 'runner-pod']) {
    const [victim] = await release.pods(component)
    await release.kill(victim!)
    await release.untilWhole(120_000)
  }
  await load.stop()
  const words = judgedWithKills(await load.verdict(90_000))
  return `${pods.length} pods had the new one after ${tookS} s; ${words}`
}

/**
 * From one build to the next, while calls come in; a call may be told to come again, or, where both builds leave the machine no
 * time, that it took too long, but none is dropped and no run is lost. Where it fails, also what the gateways, old and new, warned of. */
async function change(release: Release, ratePerS: number, toOther: () => Promise<string>): Promise<string> {
  const warnings = new Warnings(release, 'gateway')
  try {
    return await changeUnderLoad(release, ratePerS, toOther)
  } catch (error) {
    for (const line of warnings.lines.filter((one) => !one.includes('"stopping"')).slice(-40)) console.log(line)
    throw error
  } finally {
    await warnings.stop()
  }
}

async function changeUnderLoad(release: Release, ratePerS: number, toOther: () => Promise<string>): Promise<string> {
  const load = new SteadyLoad(await release.client(), ratePerS)
  await load.start()
  await delay(3000)
  const began = performance.now()
  await toOther()
  const tookMs = performance.now() - began
  await delay(3000)
  await load.stop()
  const verdict = await load.verdict(120_000)
  const words = judged(verdict, /^(2\d\d|50[34]|50[34] when looked at)$/)
  if (verdict.ends['FINISHED'] !== verdict.accepted)
    throw new Error(`runs did not finish; ${words}; ${verdict.unfinished.slice(0, 10).join('\n')}`)
  return `helm took ${seconds(tookMs)} s; ${words}`
}

async function uninstall(release: Release): Promise<string> {
  await release.uninstall()
  await untilGone(() => release.objects(), 120_000)
  return 'nothing is left'
}

/** Throws where a promise was broken; else the figures in words. */
function judged({ answers, troubles, accepted, ends, broken }: Verdict, allowed: RegExp): string {
  const troubled = Object.keys(troubles).length > 0 ? `, troubles ${JSON.stringify(troubles)}` : ''
  const words = `answers ${JSON.stringify(answers)}${troubled}, accepted ${accepted}, ends ${JSON.stringify(ends)}`
  const others = Object.keys(answers).filter((how) => !allowed.test(how))
  if (others.length > 0) throw new Error(`answers that must not be: ${others.join(', ')}; ${words}`)
  if (broken.length > 0)
    throw new Error(`${broken.length} broken promises: ${broken.slice(0, 10).join('; ')}; ${words}`)
  if (accepted === 0) throw new Error(`nothing was accepted; ${words}`)
  return words
}

function lastLineOf(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}
