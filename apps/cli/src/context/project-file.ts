import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { usageError } from '../exit.ts'

/** What pas.yaml says: where the team of this repository is served. Its other members are read by project/. */
interface ProjectFile {
  layout: number
  contexts?: Record<string, { url: string; team: string }>
  [member: string]: unknown
}

export interface Project {
  /** The folder of pas.yaml. */
  folder: string
  file: ProjectFile
}

/** The nearest pas.yaml, from a folder upwards. */
export async function findProject(from: string): Promise<Project | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'pas.yaml')
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw error
    })
    if (text !== undefined) return { folder, file: await parseProject(text, path) }
    if (folder === dirname(folder)) return undefined
  }
}

async function parseProject(text: string, path: string): Promise<ProjectFile> {
  const { parse } = await import('yaml')
  let value: unknown
  try {
    value = parse(text)
  } catch (error) {
    throw usageError(`${path} is no YAML: ${(error as Error).message}`)
  }
  if (typeof value !== 'object' || value === null || !('layout' in value))
    throw usageError(
      `${path} has no "layout": write "layout: 1" as its first line, or remove it and make a new one by "pas init".`,
    )
  const file = value as ProjectFile
  if (file.layout !== 1)
    throw usageError(
      `${path} has layout ${String(file.layout)}; this program knows 1. Update it: npm i -g @process-automation/cli`,
    )
  for (const [name, context] of Object.entries(file.contexts ?? {}))
    if (typeof context?.url !== 'string' || typeof context.team !== 'string')
      throw usageError(`${path}: the context ${name} needs "url" and "team".`)
  return file
}
