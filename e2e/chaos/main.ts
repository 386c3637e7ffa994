import { writeFile } from 'node:fs/promises'
import { randomSeed, readOptions, wholeNumber } from '@automation/testing/options'
import { Random } from '@automation/testing/random'
import { endOnSignals, removeTraces, type Shape } from '../system/system.ts'
import { Campaign } from './campaign.ts'
import type { Round } from './campaign.ts'
import { strikeMany, type Outcome } from './many/run.ts'
import { strikeKinds } from './many/strike-kinds.ts'
import { roundLine, summaryOf, tableOf } from './report.ts'
import { failPointsInTurn, planStrikes } from './strikes.ts'
import type { Strike } from './strikes.ts'
import { Subject } from './subject.ts'

const help = `npm run chaos [-- OPTIONS]

Starts the system, puts load on it and kills it again and again with SIGKILL: all of its processes at once, one
process, or at a named fail point. After each kill it starts again, and every promise about executions is checked
against a ledger outside the system that counts what process code really did.

  --kills N       how many kills (30)
  --shape SHAPE   embedded, services or both, half of the kills each (both); or many
  --seed S        repeats the choices of a former run; printed at the start
  --json FILE     also writes the summary as JSON
  --keep          keeps the data folder and the system's log when something is violated
  --help

With --shape many: several replicas of each service, a PostgreSQL primary with a synchronous standby, and what else
the scripts in SERVICES_DIR start, with a fault proxy on every link. Load goes on while they are struck in many ways,
and everything is compared at the end. For each kind the longest time without an accepted call is printed, for
some also that without a callback or an object that is stored.

  --strikes N     how many strikes (200)
  --kinds LIST    only these kinds, with commas between:
                  ${Object.keys(strikeKinds).join(', ')}

Ends with 1 when a promise was broken, or a bound was passed; with 3 when this machine has no means for it.
`

const options = readOptions(
  help,
  {
    kills: { type: 'string', default: '30' },
    shape: { type: 'string', default: 'both' },
    strikes: { type: 'string', default: '200' },
    kinds: { type: 'string', default: '' },
    seed: { type: 'string', default: randomSeed },
    json: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
  ({ kills, strikes, kinds, shape, seed, ...others }) => {
    const shapes = shapesOf(shape)
    const named = kinds.split(',').filter((name) => name !== '')
    if (!shapes || !named.every((name) => Object.hasOwn(strikeKinds, name))) return undefined
    const counts = { kills: wholeNumber(kills, 1), strikes: wholeNumber(strikes, 1), seed: wholeNumber(seed) }
    return { ...others, ...counts, shapes, kinds: named }
  },
)
type Options = typeof options

const exitCodes: Record<Outcome, number> = { held: 0, broken: 1, 'left out': 3 }

if (options.shapes.length === 0) {
  console.log(`${options.strikes} strikes on many replicas, seed ${options.seed}`)
  process.exitCode = exitCodes[await strikeMany(options, endingOnSignals())]
} else {
  endOnSignals()
  await chaos(options)
}

/** Aborts on a signal, for a program that first ends what it has started. */
function endingOnSignals(): AbortSignal {
  const ending = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => ending.abort(new Error(`It was told to end by ${name}`)))
  return ending.signal
}

async function chaos({ kills, shapes, seed, json, keep }: Options): Promise<void> {
  console.log(`${kills} kills, ${shapes.join(' and ')}, seed ${seed}`)
  const rounds: Round[] = []
  const points = failPointsInTurn(new Random(seed))
  for (const [index, shape] of shapes.entries()) {
    const count = Math.floor(kills / shapes.length) + (index < kills % shapes.length ? 1 : 0)
    const random = new Random(seed + index)
    const strikes = planStrikes(count, shape, random, points)
    if (count > 0) rounds.push(...(await campaign(random, new Subject(shape), strikes, keep)))
  }
  const summary = summaryOf(rounds, seed)
  console.log(`\n${tableOf(rounds)}\n\n${JSON.stringify(summary)}`)
  if (json) await writeFile(json, JSON.stringify({ ...summary, rounds }, undefined, 2))
  if (summary.violations > 0) {
    for (const { strike, shape, violations } of rounds)
      for (const { rule, id, description } of violations)
        console.log(`BROKEN after ${shape} ${strike}: ${rule}: ${id} ${description}`)
    console.log(`\nRepeat with --seed ${seed} --kills ${kills} --shape ${shapes.length === 2 ? 'both' : shapes[0]}`)
    process.exitCode = 1
  }
}

async function campaign(random: Random, subject: Subject, strikes: Strike[], keep: boolean): Promise<Round[]> {
  const rounds: Round[] = []
  const all = new Campaign(subject, random)
  try {
    await all.begin()
    for (const [index, strike] of strikes.entries()) {
      const round = await all.round(strike)
      rounds.push(round)
      console.log(`${`${index + 1}`.padStart(4)}/${strikes.length} ${roundLine(round)}`)
    }
    rounds.at(-1)?.violations.push(...(await all.finish()))
  } catch (error) {
    const log = await subject.system.output().catch(() => '')
    await subject.system.kill().catch(() => undefined)
    console.error(`The system's last words:\n${log.slice(-6000)}\nIts folder: ${subject.system.dataDir}`)
    throw error
  }
  console.log(`${subject.shape}: calls by answer ${JSON.stringify(all.answers)}`)
  const { dataDir } = subject.system
  if (keep && rounds.some(({ violations }) => violations.length > 0)) console.log(`Kept: ${dataDir} and ${dataDir}.log`)
  else await removeTraces(dataDir)
  return rounds
}

/** None for the shape of many replicas, which is started otherwise. */
function shapesOf(word: string): Shape[] | undefined {
  if (word === 'many') return []
  if (word === 'both') return ['embedded', 'services']
  return word === 'embedded' || word === 'services' ? [word] : undefined
}
