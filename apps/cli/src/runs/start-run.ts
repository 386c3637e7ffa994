import { readFile } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import type { Client, DraftInput, ExecuteProcessInput } from '@automation/client'
import { parseLossless } from '../exact-json.ts'
import { usageError } from '../exit.ts'
import { stripTypes } from '../project/strip-types.ts'

/** What a run is started with, beside the process. */
export type RunInput = Pick<ExecuteProcessInput, 'tag' | 'comment' | 'settings'> & {
  parameters?: Record<string, unknown>
}

/** A source that is not saved. */
export type Draft = DraftInput & { programmingLanguage: 'JAVASCRIPT' | 'PYTHON' }

/** Starts a run of a stored process and gives its id. A repeated call starts nothing twice. */
export async function startRun(client: Client, slug: string, input: RunInput): Promise<string> {
  return (await client.processes.execute(slug, input)).executionId
}

/**
 * Starts a run of a draft: as a change of the process `slug` where that is stored, with its packages and its schema, else
 * by itself.
 */
export async function startDraft(
  client: Client,
  draft: Draft,
  slug: string | undefined,
  input: RunInput,
): Promise<string> {
  if (slug !== undefined)
    try {
      const { programmingLanguage: _, ...change } = draft
      return (await client.processes.execute(slug, { ...input, draft: change })).executionId
    } catch (error) {
      if ((error as { code?: string }).code !== 'process_not_found') throw error
    }
  return (await client.processes.executeDraft({ ...input, draft })).executionId
}

const languages: Readonly<Record<string, Draft['programmingLanguage']>> = {
  '.js': 'JAVASCRIPT',
  '.mjs': 'JAVASCRIPT',
  '.ts': 'JAVASCRIPT',
  '.mts': 'JAVASCRIPT',
  '.py': 'PYTHON',
}

/** Whether a word names a source file rather than a process: slugs have no dot and no slash. */
export function namesFile(word: string): boolean {
  return /[./\\]/.test(word)
}

/** The slug of the process that a file is the source of, in the layout of a team in git: `processes/SLUG/main.js`. */
export function slugOfFile(file: string): string | undefined {
  const folder = dirname(resolve(file))
  return basename(dirname(folder)) === 'processes' && basename(file).startsWith('main.') ? basename(folder) : undefined
}

/** The draft that a source file is. The types of TypeScript become blanks, so that lines keep their numbers. */
export async function readDraft(file: string): Promise<Draft> {
  const extension = extname(file)
  const programmingLanguage = languages[extension]
  if (programmingLanguage === undefined)
    throw usageError(`${file}: a source is a file .js, .mjs, .ts, .mts or .py. A process is named by its slug.`)
  const source = await readFile(file, 'utf8').catch((error: Error) => {
    throw usageError(`${file} can't be read: ${error.message}`)
  })
  const sourceCode = extension.endsWith('ts') ? withoutTypes(source, file) : source
  const parametersSchema = slugOfFile(file) === undefined ? undefined : await schemaBeside(file)
  return { programmingLanguage, sourceCode, ...(parametersSchema !== undefined && { parametersSchema }) }
}

function withoutTypes(source: string, file: string): string {
  try {
    return stripTypes(source)
  } catch (error) {
    throw usageError(`${file}: ${(error as Error).message}`)
  }
}

async function schemaBeside(file: string): Promise<Record<string, unknown> | undefined> {
  const path = join(dirname(file), 'parameters.schema.json')
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  try {
    return parseLossless(text) as Record<string, unknown>
  } catch (error) {
    throw usageError(`${path} is no JSON: ${(error as Error).message}`)
  }
}
