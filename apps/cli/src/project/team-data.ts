import { createReadStream, existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import type { Origin, ServiceAccount } from '@automation/client'
import { parseLossless } from '../exact-json.ts'

/** The files of an exported team that no repository has, from the folder of pas.yaml. */
export const teamData = {
  /** Each version with its source, the oldest of each process and module first: `ExportedVersion`. */
  versions: 'team-data/versions.ndjson',
  /** `ExportedAlias`. */
  aliases: 'team-data/aliases.ndjson',
  /** What pas.yaml does not name: `ExportedSettings`. */
  settings: 'team-data/settings.json',
  /** Where processes and modules come from: `ExportedOrigin`. */
  origins: 'team-data/origins.ndjson',
  /** Service accounts that have not ended, without their secrets: `ExportedAccount`. */
  accounts: 'team-data/service-accounts.ndjson',
  /** Names of stored files, each with the file here that has its content: `ExportedObject`. */
  objects: 'team-data/objects.ndjson',
  contents: 'team-data/objects',
  executions: 'team-data/executions.ndjson',
  /** What an import can't do, for people. */
  setAgain: 'team-data/SET-AGAIN.md',
} as const

export interface ExportedVersion {
  /** The key of its process or module. */
  of: string
  tag: string
  comment?: string
  sourceCode: string
  /** Of processes. */
  parametersSchema?: Record<string, unknown> | null
  readme?: string | null
  /** Names of its packages and their versions. */
  packages?: Record<string, string>
}

export interface ExportedAlias {
  of: string
  name: string
  tag: string
  /** Where it led to before, the last first. */
  previousTags?: string[]
}

/** Those behind the first are absent where an older release has written it. */
export interface ExportedSettings {
  paramsSchemaValidationEnabled: boolean
  /** Where it is another one than the slug. */
  name?: string
  parentTeamSlugs?: string[]
  allowedAddresses?: string[]
}

export interface ExportedOrigin {
  of: string
  origin: Origin
}

export interface ExportedAccount {
  name: string
  scopes: ServiceAccount['scopes']
  expiresAt?: string
}

export interface ExportedObject {
  name: string
  size: number
  md5Hash: string
  contentType: string
  /** Below `teamData.contents`. */
  file: string
}

/** Writes values as lines of JSON. */
export async function writeLines(path: string, values: AsyncIterable<object> | Iterable<object>): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const lines = async function* () {
    for await (const value of values) yield `${oneLine(JSON.stringify(value))}\n`
  }
  await writeFile(path, lines())
}

/** JSON without characters that readers of lines take for the end of one. */
const oneLine = (json: string) => json.replaceAll('\u2028', String.raw`\u2028`).replaceAll('\u2029', String.raw`\u2029`)

/** Reads lines of JSON. With `mayBeAbsent` an absent file has none, as an older release has written no such file. */
export async function* readLines<T>(path: string, { mayBeAbsent = false } = {}): AsyncGenerator<T> {
  if (mayBeAbsent && !existsSync(path)) return
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity }))
    if (line !== '') yield parseLossless(line) as T
}
