import { alone, configPath, readJson, writeJson } from './private-file.ts'

/** The stored contexts: names for an address with a team, and the one that commands are for where nothing else says so. */
export interface Contexts {
  current?: string
  contexts: Record<string, { url: string; team: string }>
}

type Environment = Readonly<Record<string, string | undefined>>

export async function readContexts(env: Environment): Promise<Contexts> {
  return (await readJson<Contexts>(path(env))) ?? { contexts: {} }
}

/** Changes the stored contexts, which no other program of the user does at the same time. */
export function changeContexts(env: Environment, change: (stored: Contexts) => Contexts): Promise<void> {
  return alone(path(env), async () => writeJson(path(env), change(await readContexts(env))))
}

const path = (env: Environment) => configPath(env, 'contexts.json')
