import { writeFile } from 'node:fs/promises'
import { Client, accessTokenOf } from '../client/client.ts'
import type { Language } from '../client/records.ts'
import { endOnSignals, startSystem } from '../system/system.ts'
import { everydayOf } from './everyday.ts'
import type { Everyday } from './everyday.ts'
import { readOptions } from './options.ts'
import type { PackagesOptions } from './options.ts'
import { registrySettings, unreachable } from './registries.ts'
import { heading, lineOf, summaryOf } from './table.ts'
import { tryPackage } from './trial.ts'
import type { Outcome } from './trial.ts'

type Task = [Language, Everyday]

const options = readOptions(process.argv.slice(2))
endOnSignals()
if (options) await test(options)

async function test(options: PackagesOptions): Promise<void> {
  const tasks = options.languages.flatMap((language) =>
    everydayOf(language)
      .packages.filter(({ name }) => options.only.test(name))
      .map((entry): Task => [language, entry]),
  )
  if (options.list)
    return console.log(tasks.map(([language, { name }]) => `${language.toLowerCase()} ${name}`).join('\n'))
  const settings = await registrySettings()
  for (const language of new Set(tasks.map(([language]) => language))) {
    const fault = await unreachable(language, settings)
    if (fault === undefined) continue
    console.error(`Nothing was tried: ${fault}`)
    process.exitCode = 3
    return
  }
  const outcomes = await tryAll(tasks, settings, options)
  const order = tasks.map(([language, { name }]) => `${language} ${name}`)
  outcomes.sort((a, b) => order.indexOf(`${a.language} ${a.name}`) - order.indexOf(`${b.language} ${b.name}`))
  console.log(`\n${heading}\n${outcomes.map(lineOf).join('\n')}\n\n${summaryOf(outcomes)}`)
  if (options.json) await writeFile(options.json, JSON.stringify(outcomes, undefined, 2))
  if (outcomes.length === 0 || outcomes.some(({ fault }) => fault !== undefined)) process.exitCode = 1
}

async function tryAll(tasks: Task[], settings: Record<string, string>, options: PackagesOptions): Promise<Outcome[]> {
  const { atOnce, timeoutMs } = options
  const system = await startSystem({ shape: 'embedded', team: 'packages', env: settings })
  try {
    const accessToken = await accessTokenOf(system.host, system.team, system.apiToken)
    const client = new Client({ host: system.host, team: system.team, accessToken })
    for (const language of new Set(tasks.map(([each]) => each))) await makeModules(client, language)
    const outcomes: Outcome[] = []
    const left = [...tasks]
    const work = async () => {
      for (let task = left.shift(); task !== undefined; task = left.shift()) {
        const outcome = await tryPackage(client, ...task, timeoutMs)
        outcomes.push(outcome)
        console.log(`${`${outcomes.length}`.padStart(4)}/${tasks.length} ${lineOf(outcome)}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return outcomes
  } finally {
    await system.stop()
  }
}

async function makeModules(client: Client, language: Language): Promise<void> {
  for (const [name, sourceCode] of Object.entries(everydayOf(language).modules)) {
    const { status, text } = await client.post('/modules', { name, sourceCode, programmingLanguage: language })
    if (status !== 201) throw new Error(`The module ${name} was refused with ${status}: ${text}`)
  }
}
