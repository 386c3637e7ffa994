import type { Command } from 'commander'
import { Failure } from '@automation/errors'
import { ConfigurationError } from '@automation/service/environment'
import { rendered, type Answer } from './answer.ts'
import type { Called } from './called.ts'
import type { Perform } from './command-parts.ts'
import type { Target } from './target.ts'

/** Performs commands on the system that `open` opens: prints what a call answers, and reports what it fails with. */
export function performOn(open: () => Promise<Target>, called: Called): Perform {
  return (command, call) => perform(command, call, { open, called })
}

async function perform(
  command: Command,
  call: (target: Target) => Promise<Answer>,
  { open, called }: { open(): Promise<Target>; called: Called },
): Promise<void> {
  const asJson = Boolean(command.optsWithGlobals()['json'])
  try {
    const target = await open()
    try {
      process.stdout.write(rendered(await call(target), asJson))
    } finally {
      await target.close()
    }
  } catch (error) {
    if (!(error instanceof Failure || error instanceof ConfigurationError)) throw error
    process.stderr.write(
      asJson ? `${JSON.stringify({ error: errorRecord(error) })}\n` : `${errorText(error, called)}\n`,
    )
    process.exitCode = 1
  }
}

function errorRecord(error: Failure | ConfigurationError) {
  return error instanceof Failure
    ? { code: error.code, message: error.message, fields: error.fields }
    : { code: 'configuration', message: error.message }
}

function errorText(error: Failure | ConfigurationError, called: Called): string {
  const fields = error instanceof Failure ? error.fields : []
  const faults = fields.map(({ path, message }) => `${path.replace(/^\//, '')}: ${message}`)
  const isSaid = fields.some(({ message }) => message === error.message)
  return [...(isSaid ? [] : [error.message]), ...faults, ...advice(error, called)].join('\n')
}

const advicesOf = ({ as }: Called): Record<string, string> => ({
  team_not_found: `See ${as} teams list; make it with ${as} teams create SLUG.`,
  api_token_not_found: `See ${as} tokens list TEAM.`,
  service_absent: 'No system runs on this data folder: start it, and try again.',
  pool_not_found: `See ${as} pools list.`,
  pool_token_not_found: `See ${as} pools token list POOL.`,
  runner_not_found: `See ${as} runners list.`,
  team_in_use: `See ${as} teams list.`,
  unavailable: 'Is the system running? Try again in a moment.',
  secrets_left: `Those that are damaged: set the variable anew, or delete it; ${as} keys rotate makes a new signing key.`,
  unauthenticated: 'INTERNAL_KEY must be the one that the system was started with.',
})

function advice(error: Failure | ConfigurationError, called: Called): string[] {
  const advices = advicesOf(called)
  const known = error instanceof Failure ? (advices[error.code] ?? advices[error.kind]) : undefined
  return known === undefined ? [] : [known]
}
