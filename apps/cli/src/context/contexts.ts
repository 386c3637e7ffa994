import { configPath, readJson, writeJson } from './private-file.ts'

/** The stored contexts: names for an address with a team, and the one that commands are for where nothing else says so. */
export interface Contexts {
  current?: string
  contexts: Record<string, { url: string; team: string }>
}

type Environment = Readonly<Record<string, string | undefined>>

export async function readContexts(env: Environment): Promise<Contexts> {
  return (await readJson<Contexts>(path(env))) ?? { contexts: {} }
}

export async function writeContexts(env: Environment, contexts: Contexts): Promise<void> {
  await writeJson(path(env), contexts)
}

const path = (env: Environment) => configPath(env, 'contexts.json')
