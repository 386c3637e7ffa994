import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { readOptions, wholeNumber } from '@automation/testing/options'
import { openLab, type Effort, type Lab } from './lab.ts'
import { installPeers } from './peers/install.ts'
import { measure, type WorkloadFigures } from './plan.ts'
import { reportJson, table } from './report/json.ts'
import { picture } from './report/picture.ts'
import { clusterSettings } from './sides/cluster.ts'
import type { Workload } from './sides/side.ts'
import { start } from './workloads/system-start.ts'
import { w1 } from './workloads/w01-sync-webhook.ts'
import { w10 } from './workloads/w10-fair-share.ts'
import { w11 } from './workloads/w11-kept-executions.ts'
import { w12 } from './workloads/w12-schedules.ts'
import { w13 } from './workloads/w13-everyday-packages.ts'
import { w14 } from './workloads/w14-replicas.ts'
import { w15 } from './workloads/w15-services.ts'
import { w16 } from './workloads/w16-long-tail.ts'
import { w17 } from './workloads/w17-team-streams.ts'
import { w18 } from './workloads/w18-overload.ts'
import { w2 } from './workloads/w02-python-webhook.ts'
import { w3 } from './workloads/w03-queue-drain.ts'
import { w4 } from './workloads/w04-idle-start.ts'
import { w5 } from './workloads/w05-async-burst.ts'
import { w6 } from './workloads/w06-cpu-work.ts'
import { w7 } from './workloads/w07-new-versions.ts'
import { w8Pods } from './workloads/w08-pod-sandboxes.ts'
import { w8 } from './workloads/w08-local-sandboxes.ts'
import { w9 } from './workloads/w09-log-lines.ts'

const onMachine: Workload[] = [w1, w2, w3, w4, w5, w6, w7, w8, w9, w10, w11, w12, w13, w14, w15, w16, w17, w18, start]
const onCluster: Workload[] = [w8Pods]
const workloads = [...onMachine, ...onCluster]
const long = workloads.flatMap(({ id, isLong }) => (isLong ? [id] : []))
const results = resolve(import.meta.dirname, '../results')

const help = `npm run bench [-- OPTIONS]

Measures the system against floors (the least that could do the work) and, with --peers, against other systems, on this
machine in one run. Sides take turns, one system at a time; every answer is checked, a wrong one ends the bench.

  --kubernetes     also those of a cluster: KUBECONFIG names it, SANDBOX_BASE_IMAGE and SANDBOX_DAEMON_IMAGE the images of
                   \`npm run images\` on its nodes; wants kubectl
  --only W1,W3     only these workloads, with W8 also W8-pods: ${workloads.map(({ id }) => id).join(', ')}
  --peers          also Restate, DBOS, graphile-worker, pg-boss and n8n, installed once (n8n takes 1.3 GB; --sides can
                   leave it out) into \${XDG_CACHE_HOME:-~/.cache}/process-automation-bench
  --sides A,B      only these sides, such as ours,floor
  --repeats N      how often each side is measured (5); the median counts, smallest and largest are shown
  --seconds N      how long each load lasts (5), after a warm-up of 2 s
  --smoke          a few seconds for each side, once: checks the answers, judges no figure; without --only not ${long.join(', ')}
  --json FILE      where the result goes (bench/results/latest.json); the picture goes beside it as .svg
  --help

${workloads.map(({ id, title }) => `${id.padEnd(6)} ${title}`).join('\n')}
`

const options = readOptions(
  help,
  {
    only: { type: 'string' },
    sides: { type: 'string' },
    peers: { type: 'boolean', default: false },
    kubernetes: { type: 'boolean', default: false },
    repeats: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    smoke: { type: 'boolean', default: false },
    json: { type: 'string', default: resolve(results, 'latest.json') },
  },
  ({ repeats, seconds, ...others }) => ({
    ...others,
    repeats: wholeNumber(repeats, 1),
    seconds: wholeNumber(seconds, 1),
  }),
)

await bench()

async function bench(): Promise<void> {
  if (options.kubernetes) clusterSettings()
  const chosen = chosenWorkloads()
  const { smoke, repeats, seconds } = options
  const effort: Effort = smoke
    ? { repeats: 1, warmUpS: 0.1, seconds: 0.3, smoke }
    : { repeats, warmUpS: 2, seconds, smoke }
  const withN8n = chosen.some(({ sides }) => sides.some(({ name }) => name === 'n8n'))
  const peers = options.peers ? await installPeers(withN8n, tell) : undefined
  const lab = await openLab(effort, peers)
  const measured: WorkloadFigures[] = []
  try {
    for (const workload of chosen) measured.push(await measure(workload, lab, tell))
  } finally {
    await lab.close()
    if (measured.length > 0) await report(measured, lab)
  }
}

/** Writes what was measured, also of a run that a wrong answer has ended. */
async function report(measured: WorkloadFigures[], lab: Lab): Promise<void> {
  const json = resolve(process.env['INIT_CWD'] ?? '.', options.json)
  await mkdir(dirname(json), { recursive: true })
  await writeFile(json, `${JSON.stringify(reportJson(measured, lab), undefined, 2)}\n`)
  await writeFile(json.replace(/(\.json)?$/, '.svg'), picture(measured))
  console.log(`\n${table(measured)}\n\n${json}`)
}

function chosenWorkloads(): Workload[] {
  const only = options.only?.split(',')
  const unknown = only?.filter((id) => !workloads.some((workload) => workload.id === id)) ?? []
  if (unknown.length > 0) throw new Error(`no such workload: ${unknown.join(', ')}; see --help`)
  const named = options.sides?.split(',')
  return (options.kubernetes ? workloads : onMachine)
    .filter(
      ({ id }) =>
        only?.some((name) => [id, id.replace(/-.*/, '')].includes(name)) ?? !(options.smoke && long.includes(id)),
    )
    .map((workload) => ({
      ...workload,
      sides: workload.sides.filter(({ name }) => named === undefined || named.includes(name)),
    }))
}

function tell(line: string): void {
  console.error(line)
}
