import type { Command } from 'commander'
import { Failure } from '@automation/errors'
import { ConfigurationError } from '@automation/service'
import { rendered, type Answer } from './answer.ts'
import { openTarget, type Target } from './target.ts'

/** Opens the system, prints what the call answers, and reports what it fails with. */
export async function perform(command: Command, call: (target: Target) => Promise<Answer>): Promise<void> {
  const asJson = Boolean(command.optsWithGlobals()['json'])
  try {
    const target = await openTarget(process.env)
    try {
      process.stdout.write(rendered(await call(target), asJson))
    } finally {
      await target.close()
    }
  } catch (error) {
    if (!(error instanceof Failure || error instanceof ConfigurationError)) throw error
    process.stderr.write(asJson ? `${JSON.stringify({ error: errorRecord(error) })}\n` : `${errorText(error)}\n`)
    process.exitCode = 1
  }
}

function errorRecord(error: Failure | ConfigurationError) {
  return error instanceof Failure
    ? { code: error.code, message: error.message, fields: error.fields }
    : { code: 'configuration', message: error.message }
}

function errorText(error: Failure | ConfigurationError): string {
  const fields = error instanceof Failure ? error.fields : []
  const faults = fields.map(({ path, message }) => `${path.replace(/^\//, '')}: ${message}`)
  const isSaid = fields.some(({ message }) => message === error.message)
  return [...(isSaid ? [] : [error.message]), ...faults, ...advice(error)].join('\n')
}

const advices: Record<string, string> = {
  team_not_found: 'See npm run admin -- teams list; make it with npm run admin -- teams create SLUG.',
  api_token_not_found: 'See npm run admin -- tokens list TEAM.',
  service_absent: 'No system runs on this data folder: start it, and try again.',
  pool_not_found: 'See npm run admin -- pools list.',
  pool_token_not_found: 'See npm run admin -- pools token list POOL.',
  runner_not_found: 'See npm run admin -- runners list.',
  team_in_use: 'See npm run admin -- teams list.',
  unavailable: 'Is the system running? Try again in a moment.',
  secrets_left:
    'Those that are damaged: set the variable anew, or delete it; npm run admin -- keys rotate makes a new signing key.',
  unauthenticated: 'INTERNAL_KEY must be the one that the system was started with.',
}

function advice(error: Failure | ConfigurationError): string[] {
  const known = error instanceof Failure ? (advices[error.code] ?? advices[error.kind]) : undefined
  return known === undefined ? [] : [known]
}
