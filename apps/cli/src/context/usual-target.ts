import { ExitError, type Runtime } from '../runtime.ts'
import { chooseTarget, normalUrl, type Target } from './choose-target.ts'
import { readContexts } from './contexts.ts'

/** Where commands in this folder go whose flags name nothing; undefined where they have to. */
export async function usualTarget(runtime: Runtime): Promise<Target | undefined> {
  const [project, stored] = await Promise.all([runtime.project(), readContexts(runtime.env)])
  try {
    return chooseTarget({ flags: {}, env: runtime.env, project, stored })
  } catch (error) {
    if (error instanceof ExitError) return undefined
    throw error
  }
}

/** What to know where commands in this folder do not go where the context `name` says; undefined where they do. */
export async function elsewhere(
  runtime: Runtime,
  name: string,
  { url, team }: Pick<Target, 'url' | 'team'>,
): Promise<string | undefined> {
  const usual = await usualTarget(runtime)
  if (usual?.url === normalUrl(url) && usual.team === team) return undefined
  if (usual === undefined) return 'In this folder pas.yaml has other contexts: choose by --context.'
  const isSet = runtime.env['PAS_URL'] || runtime.env['PAS_TEAM']
  const way = isSet ? 'PAS_URL and PAS_TEAM say so.' : `Choose it here by --context ${name}.`
  return `In this folder commands stay with the team ${usual.team} at ${usual.url}. ${way}`
}
