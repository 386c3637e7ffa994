import { parseLossless } from '../exact-json.ts'
import { checkValue, type Fault } from './check-value.ts'
import { isRecord } from './canonical-json.ts'
import { newYaml, readYaml } from './edit-yaml.ts'
import { processFileSchema } from './file-schemas.ts'
import { resolveSettings, settingsFile, type ResolvedSettings } from './process-settings.ts'
import { keys, type Item, type Language, type ProcessState, type ScheduleState, type SecretNames } from './states.ts'
import { stripTypes } from './strip-types.ts'

/** Texts by path from the folder of pas.yaml, with `/`. */
export type Files = ReadonlyMap<string, string>

/** The files of a process, from its folder. */
export const processFiles = {
  settings: 'process.yaml',
  schema: 'parameters.schema.json',
  readme: 'README.md',
}

const sourceNames: Readonly<Record<string, Language>> = {
  'main.js': 'JAVASCRIPT',
  'main.ts': 'JAVASCRIPT',
  'main.py': 'PYTHON',
}

const settingsComment = ' yaml-language-server: $schema=../../schemas/process.json'
const slugForm = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/

/** A process folder as it was read: its items, and what stands in the way of them. */
interface ReadFolder {
  items: Item[]
  faults: Fault[]
}

/** The name of the source file of a folder; undefined where there is none or more than one. */
export function sourceFile(files: Files, slug: string): string | undefined {
  const found = Object.keys(sourceNames).filter((name) => files.has(`processes/${slug}/${name}`))
  return found.length === 1 ? found[0] : undefined
}

/** Reads the folder of a process for a context. */
export function readProcessFolder(files: Files, slug: string, context?: string): ReadFolder {
  const path = (name: string) => `processes/${slug}/${name}`
  const faults: Fault[] = []
  const attempt = <T>(name: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      faults.push({ path: path(name), message: (error as Error).message })
      return undefined
    }
  }
  if (!slugForm.test(slug))
    return {
      items: [],
      faults: [{ path: `processes/${slug}`, message: 'A slug has lower-case letters, digits and inner hyphens' }],
    }
  const name = sourceFile(files, slug)
  if (name === undefined)
    return {
      items: [],
      faults: [{ path: `processes/${slug}`, message: 'It needs one of main.js, main.ts and main.py' }],
    }
  const text = files.get(path(name))!
  const sourceCode = attempt(name, () => (name.endsWith('.ts') ? stripTypes(text) : text))
  const resolved = attempt(processFiles.settings, () =>
    readSettings(files.get(path(processFiles.settings)), slug, context),
  )
  const parametersSchema = attempt(processFiles.schema, () => readSchema(files.get(path(processFiles.schema))))
  if (sourceCode === undefined || resolved === undefined || parametersSchema === undefined) return { items: [], faults }
  const readme = files.get(path(processFiles.readme)) || null
  const state = { language: sourceNames[name]!, sourceCode, readme, parametersSchema, settings: resolved.settings }
  return { items: itemsOf(slug, state, resolved), faults }
}

/** Reads a process.yaml; throws with all that is wrong with it. */
export function readSettings(text: string | undefined, slug: string, context?: string): ResolvedSettings {
  const value = readYaml(text ?? '')
  const faults = checkValue(value, processFileSchema)
  if (faults.length > 0) throw new Error(faults.join('; '))
  const resolved = resolveSettings(slug, value as Record<string, unknown>, context)
  for (const [name, schedule] of Object.entries(resolved.schedules)) checkSchedule(name, schedule)
  return resolved
}

function checkSchedule(name: string, { cron, dateTime }: ScheduleState): void {
  if ((cron === null) === (dateTime === null)) throw new Error(`schedules.${name} needs either cron or dateTime`)
  if (dateTime !== null && !dateTime.endsWith('Z'))
    throw new Error(`schedules.${name}.dateTime must be RFC 3339 with an offset`)
  if (dateTime !== null && Number.isNaN(Date.parse(dateTime))) throw new Error(`schedules.${name}.dateTime is no time`)
}

function readSchema(text: string | undefined): Record<string, unknown> | null {
  if (text === undefined || text.trim() === '') return null
  const value = parseLossless(text)
  if (!isRecord(value)) throw new Error('A JSON Schema must be an object')
  return value
}

function itemsOf(slug: string, state: ProcessState, { schedules, secrets }: ResolvedSettings): Item[] {
  return [
    { kind: 'process', key: keys.process(slug), name: slug, state, secrets },
    ...Object.entries(schedules).map(([name, schedule]): Item => ({
      kind: 'schedule',
      key: keys.schedule(slug, name),
      name,
      process: slug,
      state: schedule,
    })),
  ]
}

/** The files of a process that nobody has here yet. The password of its webhook is named, never known. */
export function newProcessFiles(
  slug: string,
  state: ProcessState,
  schedules: Record<string, ScheduleState>,
): Map<string, string> {
  const path = (name: string) => `processes/${slug}/${name}`
  const hasPassword = state.settings.webhook.username !== null
  const secrets: SecretNames = hasPassword ? { webhookPassword: webhookPasswordName(slug) } : {}
  const settings = settingsFile(slug, { settings: state.settings, schedules, secrets })
  return new Map([
    [path(processFiles.settings), newYaml(settingsComment, settings)],
    [path(state.language === 'PYTHON' ? 'main.py' : 'main.js'), state.sourceCode],
    ...(state.parametersSchema === null
      ? []
      : [[path(processFiles.schema), schemaText(state.parametersSchema)] as [string, string]]),
    ...(state.readme === null ? [] : [[path(processFiles.readme), state.readme] as [string, string]]),
  ])
}

/** A JSON Schema as its file has it. */
export const schemaText = (schema: Record<string, unknown>) => `${JSON.stringify(schema, null, 2)}\n`

/** The environment variable for the password of a webhook, where no file names one yet. */
export const webhookPasswordName = (slug: string) => `${slug.toUpperCase().replaceAll('-', '_')}_WEBHOOK_PASSWORD`
