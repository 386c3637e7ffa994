import { writeFile } from 'node:fs/promises'
import { Random } from '../system/random.ts'
import { endOnSignals, removeTraces } from '../system/system.ts'
import { Campaign } from './campaign.ts'
import type { Round } from './campaign.ts'
import { readOptions } from './options.ts'
import type { ChaosOptions } from './options.ts'
import { roundLine, summaryOf, tableOf } from './report.ts'
import { planStrikes } from './strikes.ts'
import { Subject } from './subject.ts'

const options = readOptions(process.argv.slice(2))
endOnSignals()
if (options) await chaos(options)

async function chaos({ kills, shapes, seed, json, keep }: ChaosOptions): Promise<void> {
  console.log(`${kills} kills, ${shapes.join(' and ')}, seed ${seed}`)
  const rounds: Round[] = []
  for (const [index, shape] of shapes.entries()) {
    const count = Math.floor(kills / shapes.length) + (index < kills % shapes.length ? 1 : 0)
    if (count > 0) rounds.push(...(await campaign(new Random(seed + index), new Subject(shape), count, keep)))
  }
  const summary = summaryOf(rounds, seed)
  console.log(`\n${tableOf(rounds)}\n\n${JSON.stringify(summary)}`)
  if (json) await writeFile(json, JSON.stringify({ ...summary, rounds }, undefined, 2))
  if (summary.violations > 0) {
    for (const { strike, shape, violations } of rounds)
      for (const { rule, id, words } of violations)
        console.log(`BROKEN after ${shape} ${strike}: ${rule}: ${id} ${words}`)
    console.log(`\nRepeat with --seed ${seed} --kills ${kills} --shape ${shapes.length === 2 ? 'both' : shapes[0]}`)
    process.exitCode = 1
  }
}

async function campaign(random: Random, subject: Subject, kills: number, keep: boolean): Promise<Round[]> {
  const rounds: Round[] = []
  const all = new Campaign(subject, random)
  try {
    await all.begin()
    for (const [index, strike] of planStrikes(kills, subject.shape, random).entries()) {
      const round = await all.round(strike)
      rounds.push(round)
      console.log(`${`${index + 1}`.padStart(4)}/${kills} ${roundLine(round)}`)
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
