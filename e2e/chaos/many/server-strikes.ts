import { waitUntil } from '../../system/wait-until.ts'
import type { StrikeKind } from './strike-kinds.ts'

export const controller: StrikeKind = {
  seen: 'nothing from calls; callbacks and error handlers come later',
  boundsMs: { calls: 15_000, callbacks: 45_000 },
  lastsMs: [2000, 6000],
  lacks: ({ servers }) => (servers.kafka ? undefined : 'SERVICES_DIR has no Kafka'),
  hit: async ({ servers }) => {
    const kafka = servers.kafka!
    const leads = await kafka.controller()
    await kafka.kill(leads)
    const mend = async () => {
      await waitUntil('another controller', async () => (await kafka.controller()) !== leads, { timeoutMs: 30_000 })
      await kafka.start(leads)
    }
    return { what: `broker ${leads}`, mend }
  },
}

export const s3: StrikeKind = {
  seen: 'calls of objects take longer, others take no notice',
  boundsMs: { calls: 15_000, objects: 30_000 },
  lastsMs: [2000, 6000],
  lacks: ({ servers }) => (servers.s3 ? undefined : 'SERVICES_DIR has no S3 server'),
  hit: async ({ links }, random) => {
    const latencyMs = random.between(300, 1500)
    const ways = links.filter(({ to }) => to === 's3')
    for (const { proxy } of ways) proxy.delayBy(latencyMs)
    const mend = async () => {
      for (const { proxy } of ways) proxy.delayBy(0)
    }
    return { what: `from all replicas by ${latencyMs} ms`, mend }
  },
}
