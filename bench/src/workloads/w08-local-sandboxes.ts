import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connectSandbox } from '@automation/client/sandbox'
import type { Lab } from '../lab.ts'
import { openOurs, oursAbout, type Ours } from '../sides/ours.ts'
import { goal, type Workload } from '../sides/side.ts'
import { percentile, type Sample } from '../statistics.ts'

const samplesOf = (lab: Lab) => (lab.effort.smoke ? 1 : 15)
/** In which another one is made ready; long for what takes a third of a second. */
const restMs = 1500
const rest = () => new Promise((resolve) => setTimeout(resolve, restMs))
const images = [
  { id: 'kept', image: 'kept', warm: 1 },
  { id: 'fresh', image: 'fresh', warm: 0 },
]

/** From the call that asks for a sandbox to the answer of its first command. */
async function measureOurs(lab: Lab): Promise<Sample> {
  const catalogue = join(await lab.folder('images'), 'images.json')
  await writeFile(catalogue, JSON.stringify({ images }))
  const ours = await openOurs(lab, { SANDBOX_IMAGES: catalogue })
  try {
    const samples = samplesOf(lab)
    const kept = await firstAnswers(ours, { imageId: 'kept', samples, rest })
    return { ...kept, ...(await firstAnswers(ours, { imageId: 'fresh', samples, rest })) }
  } finally {
    await ours.close()
  }
}

/** The same command by itself. */
async function measureSpawn(lab: Lab): Promise<Sample> {
  const times: number[] = []
  for (let index = -2; index < samplesOf(lab); index += 1) {
    const startedAt = performance.now()
    const child = spawn('echo', ['here'], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child, 'close')
    if (index >= 0) times.push(performance.now() - startedAt)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const [p50Ms, p99Ms] = [percentile(sorted, 0.5), percentile(sorted, 0.99)]
  return { keptP50Ms: p50Ms, keptP99Ms: p99Ms, freshP50Ms: p50Ms, freshP99Ms: p99Ms }
}

export const w8: Workload = {
  id: 'W8',
  title:
    'A sandbox on this machine: from asking for it to the answer of its first command, kept ready and from nothing',
  shown: { metric: 'keptP50Ms', unit: 'ms, p50, of one that was kept ready', moreIsBetter: false },
  sides: [
    {
      name: 'spawn',
      kind: 'floor',
      about: { software: 'the command alone, as a process', isolation: 'none', durability: 'none' },
      measure: measureSpawn,
    },
    {
      name: 'ours',
      kind: 'ours',
      about: {
        software: 'this repository, embedded; the command through its client package and the gateway',
        get isolation() {
          return oursAbout.isolation
        },
        durability: 'the sandbox in PostgreSQL with fsync, before it is made',
      },
      measure: measureOurs,
    },
  ],
  goals: (median) => [
    goal('kept ready: p50 at most 10 ms', median('ours', 'keptP50Ms'), '<=', 10),
    goal('from nothing: p50 at most 60 ms', median('ours', 'freshP50Ms'), '<=', 60),
  ],
}

interface FirstAnswers {
  imageId: string
  samples: number
  /** Waited for before each. */
  rest(): Promise<unknown>
}

const warmUps = 2

/** From the call that asks for a sandbox to the answer of its first command: `<imageId>P50Ms` and `<imageId>P99Ms`. */
export async function firstAnswers(ours: Ours, { imageId, samples, rest }: FirstAnswers): Promise<Sample> {
  const times: number[] = []
  for (let index = -warmUps; index < samples; index += 1) {
    await rest()
    const startedAt = performance.now()
    const made = await ours.call<{ id: string; grpcServerUrl: string; grpcApiKey: string }>('POST', '/sandboxes', {
      imageId,
    })
    const sandbox = connectSandbox(made)
    const { stdout } = await sandbox.run(['echo', 'here'])
    if (index >= 0) times.push(performance.now() - startedAt)
    if (stdout !== 'here\n') throw new Error(`the command of a sandbox gave ${JSON.stringify(stdout)}`)
    sandbox.close()
    await ours.call('POST', `/sandboxes/${made.id}/kill`)
  }
  const sorted = times.toSorted((a, b) => a - b)
  return { [`${imageId}P50Ms`]: percentile(sorted, 0.5), [`${imageId}P99Ms`]: percentile(sorted, 0.99) }
}
