import { usageError } from '../exit.ts'
import type { Contexts } from './contexts.ts'
import type { Project } from './project-file.ts'

/** The team that a command is for, and where it is served. */
export interface Target {
  /** Without a slash at the end. */
  url: string
  team: string
  /** The context that they are from, where they are from one. */
  context?: string
  /** PAS_TOKEN is for another address, PAS_URL, which the context comes before. */
  isTokenForOther?: true
}

/** What names a target: the flags (--url and --team before --context), PAS_*, pas.yaml and the stored contexts, in this order. */
export interface TargetSources {
  flags: { url?: string; team?: string; context?: string }
  env: Readonly<Record<string, string | undefined>>
  project?: Project
  stored: Contexts
}

/** Chooses the target; throws a usage error that says what is missing. */
export function chooseTarget({ flags, env, project, stored }: TargetSources): Target {
  const ofEnv = flags.context === undefined ? env : {}
  const explicit = { url: flags.url ?? given(ofEnv['PAS_URL']), team: flags.team ?? given(ofEnv['PAS_TEAM']) }
  const isWhole = explicit.url !== undefined && explicit.team !== undefined
  const name = flags.context ?? given(env['PAS_CONTEXT'])
  const context = isWhole && flags.context === undefined ? undefined : chooseContext(name, project, stored)
  const url = explicit.url ?? context?.url
  const team = explicit.team ?? context?.team
  if (url === undefined || team === undefined)
    throw usageError(
      `${url === undefined ? 'No address' : 'No team'} is known. Sign in by "pas login URL --team TEAM", or give --url and --team (PAS_URL, PAS_TEAM).`,
    )
  const isContext = context !== undefined && url === context.url && team === context.team
  const passedOver = explicit.url === undefined ? given(env['PAS_URL']) : undefined
  return {
    url: normalUrl(url),
    team,
    ...(isContext ? { context: context.context } : {}),
    ...(passedOver !== undefined && normalUrl(passedOver) !== normalUrl(url) ? { isTokenForOther: true } : {}),
  }
}

function chooseContext(name: string | undefined, project: Project | undefined, stored: Contexts): Target | undefined {
  const ofProject = project?.file.contexts ?? {}
  if (name !== undefined) {
    const found = ofProject[name] ?? stored.contexts[name]
    if (found === undefined)
      throw usageError(
        `There is no context "${name}". There are: ${[...new Set([...Object.keys(ofProject), ...Object.keys(stored.contexts)])].join(', ') || 'none'}. "pas login" makes one.`,
      )
    return { ...found, context: name }
  }
  const names = Object.keys(ofProject)
  const chosen = names.length === 1 ? names[0] : names.find((one) => one === stored.current)
  if (chosen !== undefined) return { ...ofProject[chosen]!, context: chosen }
  if (names.length > 1)
    throw usageError(`pas.yaml has the contexts ${names.join(', ')}: choose one by --context or PAS_CONTEXT.`)
  const current = stored.current === undefined ? undefined : stored.contexts[stored.current]
  return current && { ...current, context: stored.current }
}

/** An address as it is compared: checked, without a slash at the end; `http://` is added for this machine alone. */
export function normalUrl(text: string): string {
  const withScheme = /^https?:\/\//i.test(text) ? text : `${isLocal(text) ? 'http' : 'https'}://${text}`
  let url: URL
  try {
    url = new URL(withScheme)
  } catch {
    throw usageError(`"${text}" is no address. An example: https://automation.example.com`)
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

const isLocal = (text: string) => /^(localhost|127\.0\.0\.1|\[::1\])(:|\/|$)/i.test(text)
// An empty variable is what a CI gives for a secret that it does not have.
const given = (text: string | undefined) => (text === '' ? undefined : text)
