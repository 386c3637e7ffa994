import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Lab } from '../lab.ts'
import { Cluster, clusterSettings, type Pod } from '../sides/cluster.ts'
import { openOurs } from '../sides/ours.ts'
import { goal, times, type Workload } from '../sides/side.ts'
import { percentile, type Sample } from '../statistics.ts'
import { firstAnswers } from './w08-local-sandboxes.ts'

const samplesOf = (lab: Lab) => (lab.effort.smoke ? 1 : 8)
const kinds = ['kept', 'carried', 'putIn'] as const
const memory = '256Mi'
/** By which an image that carries the daemon starts it. */
const daemon = '/automation/lib/loader --library-path /automation/lib /automation/bin/node --disable-sigusr1'
const command = [...daemon.split(' '), '/automation/apps/sandbox-daemon/src/main.ts']

async function measureOurs(lab: Lab): Promise<Sample> {
  const { SANDBOX_BASE_IMAGE: image, ...settings } = clusterSettings()
  const cluster = await Cluster.open(lab)
  try {
    const catalogue = join(await lab.folder('images'), 'images.json')
    const images = [
      { id: 'kept', image, command, memory, warm: 1 },
      { id: 'carried', image, command, memory },
      { id: 'putIn', image, memory },
    ]
    await writeFile(catalogue, JSON.stringify({ images, daemonImage: settings.SANDBOX_DAEMON_IMAGE }))
    const pods = join(await lab.folder('pods'), 'pods.json')
    await writeFile(pods, JSON.stringify({ namespace: cluster.namespace }))
    const ours = await openOurs(lab, {
      ...settings,
      SANDBOX_DRIVER: 'kubernetes',
      SANDBOX_IMAGES: catalogue,
      KUBERNETES_PODS: pods,
    })
    try {
      const samples = samplesOf(lab)
      const rest = () => cluster.ready('process-automation/warm=true')
      const measured: Sample[] = []
      for (const imageId of kinds) measured.push(await firstAnswers(ours, { imageId, samples, rest }))
      return Object.assign({}, ...measured) as Sample
    } finally {
      await ours.close()
    }
  } finally {
    await cluster.close()
  }
}

/** Until its container runs: nothing is asked of it. */
async function measureBare(lab: Lab): Promise<Sample> {
  const cluster = await Cluster.open(lab)
  try {
    const all: number[] = []
    for (let index = -2; index < samplesOf(lab); index += 1) {
      const ms = await cluster.runningMs(barePod(`bare-${index + 2}`))
      if (index >= 0) all.push(ms)
    }
    const sorted = all.toSorted((a, b) => a - b)
    const [p50Ms, p99Ms] = [percentile(sorted, 0.5), percentile(sorted, 0.99)]
    return Object.fromEntries(
      kinds.flatMap(
        (kind) =>
          [
            [`${kind}P50Ms`, p50Ms],
            [`${kind}P99Ms`, p99Ms],
          ] as const,
      ),
    )
  } finally {
    await cluster.close()
  }
}

function barePod(name: string): Pod & { spec: object } {
  return {
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 1,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'main',
          image: clusterSettings().SANDBOX_BASE_IMAGE,
          imagePullPolicy: 'IfNotPresent',
          command: ['sleep', '1000'],
          resources: { limits: { memory }, requests: { cpu: '100m' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    },
  }
}

export const w8Pods: Workload = {
  id: 'W8-pods',
  title:
    'A sandbox in a cluster: from asking for it to the answer of its first command, kept ready, of an image that carries the daemon, and of one that it is put into',
  shown: { metric: 'keptP50Ms', unit: 'ms, p50, of one that was kept ready', moreIsBetter: false },
  sides: [
    {
      name: 'bare pod',
      kind: 'floor',
      about: {
        software: 'a pod of the same image, until its container runs',
        isolation: 'a pod after the restricted policy',
        durability: 'that of the cluster',
      },
      measure: measureBare,
    },
    {
      name: 'ours',
      kind: 'ours',
      about: {
        software:
          'this repository, embedded, with sandboxes in a cluster; the command through its client and the gateway',
        isolation: 'a pod after the restricted policy',
        durability: 'the sandbox in PostgreSQL with fsync, before it is made',
      },
      measure: measureOurs,
    },
  ],
  goals: (median) => {
    const bare = median('bare pod', 'carriedP50Ms')
    return [
      goal('kept ready: p50 at most 64 ms', median('ours', 'keptP50Ms'), '<=', 64),
      goal('carrying the daemon: p50 at most 1.2 × a bare pod', median('ours', 'carriedP50Ms'), '<=', times(1.2, bare)),
      goal('the daemon put in: p50 at most 1.9 × a bare pod', median('ours', 'putInP50Ms'), '<=', times(1.9, bare)),
    ]
  },
}
