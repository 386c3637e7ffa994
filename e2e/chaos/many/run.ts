import { writeFile } from 'node:fs/promises'
import { Random } from '@automation/testing/random'
import { postgresPrograms } from '../../system/postgres-server.ts'
import { ManyCampaign } from './campaign.ts'
import { ManySystem } from './many-system.ts'
import { OutsideServers } from './outside-servers.ts'
import { planKinds, strikeKinds, type Awaited } from './strike-kinds.ts'
import { lossesOf, resultsOf, tableOf } from './table.ts'

export interface ManyOptions {
  strikes: number
  /** Names of kinds; all that this machine has the means for when empty. */
  kinds: readonly string[]
  seed: number
  json?: string | undefined
  keep: boolean
}

/** What became of a campaign: every promise and every bound held, or not, or this machine has no means for it. */
export type Outcome = 'held' | 'broken' | 'left out'

/** Strikes a system of many replicas under load. Rejects once `ending` aborts, when all that it has started is gone. */
export async function strikeMany(options: ManyOptions, ending: AbortSignal): Promise<Outcome> {
  if (postgresPrograms === undefined) {
    console.log(
      'left out: a primary with its standby wants the programs of PostgreSQL (Debian: apt-get install postgresql)',
    )
    return 'left out'
  }
  const servers = await OutsideServers.start({ withKafka: wanted(options.kinds).includes('controller') })
  try {
    const system = await ManySystem.start(servers, ending)
    const held = await Promise.race([strikeAll(system, options), aborted(ending)]).catch(async (error: unknown) => {
      if (!ending.aborted) console.error(await system.lastWords(system.replicas.map(({ name }) => name)))
      await system.kill()
      if (ending.aborted) await system.removeTraces()
      throw error
    })
    if (held && !options.keep) await system.removeTraces()
    else console.log(`Kept: ${system.folder}`)
    return held ? 'held' : 'broken'
  } finally {
    await servers.stop()
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason as Error)
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  return promise
}

async function strikeAll(system: ManySystem, { strikes, kinds, seed, json }: ManyOptions): Promise<boolean> {
  const random = new Random(seed)
  const planned = planKinds(possible(system, kinds), strikes, random)
  const campaign = new ManyCampaign(system, random)
  const startedAt = Date.now()
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`
  await campaign.begin()
  for (const [index, kind] of planned.entries()) {
    const { what, gapsMs } = await campaign.strike(kind)
    const gaps = (Object.keys(strikeKinds[kind]!.boundsMs) as Awaited[]).map(
      (without) => `${Math.round(gapsMs[without])} ms without ${without}`,
    )
    console.log(
      `${`${index + 1}`.padStart(4)}/${strikes} ${seconds().padStart(6)} ${kind.padEnd(12)} ${what}: ${gaps.join(', ')}`,
    )
  }
  console.log(`${seconds()}: the load ends, all of it is examined`)
  const { executions, ends, reasons, violations } = await campaign.examine()
  const faults = await system.stop()
  await campaign.close()
  const results = resultsOf(campaign.hits)
  const late = results.filter(({ longestGapMs, boundMs }) => longestGapMs > boundMs)
  const losses = lossesOf(violations)
  const summary = {
    seed,
    strikes,
    executions,
    ends,
    answers: campaign.answers,
    ...losses,
    violations: violations.length,
    kinds: results,
  }
  console.log(`\n${tableOf(results)}\n\n${JSON.stringify(summary)}`)
  if (json)
    await writeFile(
      json,
      JSON.stringify({ ...summary, reasons, hits: campaign.hits, broken: violations }, undefined, 2),
    )
  console.log(`${executions} runs in ${seconds()}: ${losses.lost} lost, ${losses.doubled} doubled`)
  for (const { rule, id, description } of violations) console.log(`BROKEN: ${rule}: ${id} ${description}`)
  for (const { kind, without, longestGapMs, boundMs } of late)
    console.log(`BROKEN: ${longestGapMs} ms without ${without} during ${kind}, bound ${boundMs} ms`)
  for (const fault of faults) console.log(`BROKEN: ${fault}`)
  const isWhole = violations.length + late.length + faults.length === 0
  if (!isWhole)
    console.log(
      `\nRepeat with --shape many --seed ${seed} --strikes ${strikes}${kinds.length > 0 ? ` --kinds ${kinds.join()}` : ''}`,
    )
  return isWhole
}

/** The kinds that this system can be struck with; says which are left out, and why. */
function possible(system: ManySystem, kinds: readonly string[]): string[] {
  return wanted(kinds).filter((name) => {
    const lack = strikeKinds[name]!.lacks?.(system)
    if (lack !== undefined) console.log(`left out: ${name}, ${lack}`)
    return lack === undefined
  })
}

const wanted = (kinds: readonly string[]) => (kinds.length > 0 ? kinds : Object.keys(strikeKinds))
