import { relative } from 'node:path'
import type { Check } from '@automation/service'
import { ProcessService } from '@automation/contract/catalog/v1/process'
import { Failure } from '@automation/errors'
import { asService, ownContext, type Neighbours } from '@automation/rpc'
import type { Bootstrap } from './bootstrap.ts'
import { consoleLink } from '@automation/admin/console-link'

interface BannerFacts extends Bootstrap {
  address: string
  /** Signs somebody in at the console; absent where there is none. */
  consoleLink?: string
  /** Where `/readyz` with details and `/metrics` are. */
  healthUrl: string
  /** What the runner says of its isolation. */
  isolation?: Check
  /** Why Python processes can't be run, in words; absent when they can. */
  withoutPython?: string
  /** Whether the team has the process `hi` already, from an earlier start. */
  hiExists: boolean
}

const hi = { name: 'hi', sourceCode: 'return `Hi ${svc.context.parameters.name}`', webhook: { enabled: true } }

/** What people see once the system is up, on one screen: where it is, how to get in, and three commands to paste. */
export function banner(facts: BannerFacts): string {
  const { address, team, healthUrl, tokenFile, freshToken, isolation, withoutPython, consoleLink: link } = facts
  return [
    '',
    `  address    ${address}   (team ${team})`,
    ...(link === undefined ? [] : [`  console    ${link}`, '             signs you in once, within 10 minutes']),
    `  documents  ${address}/docs   (OpenAPI: ${address}/openapi.json)`,
    `  sign-in    ${tokenLine(facts)}`,
    ...(freshToken === undefined ? [] : [`             this API token is shown once, and kept in ${tokenFile}`]),
    `  health     ${healthUrl}/readyz and /metrics`,
    ...(isolation === undefined ? [] : isolationLines(isolation)),
    ...(withoutPython === undefined ? [] : [`  python     ${withoutPython}`]),
    ...(tokenFile === undefined ? [] : commands(facts, tokenFile)),
    '',
    '',
  ].join('\n')
}

function tokenLine({ team, freshToken, tokenFile }: BannerFacts): string {
  if (freshToken !== undefined) return freshToken
  if (tokenFile !== undefined) return `with the API token in ${tokenFile}`
  return `make an API token with: npm run --silent admin -- tokens create ${team}`
}

function isolationLines({ detail, advice }: Check): string[] {
  return [`  isolation  ${detail}`, ...(advice === undefined ? [] : [`             for better: ${advice}`])]
}

/** None beyond 200 characters where addresses and paths are of usual lengths. */
function commands({ address, team, hiExists }: BannerFacts, tokenFile: string): string[] {
  const exchange = `curl -sS -X POST $base/auth/token -H "x-api-token: $(cat ${shown(tokenFile)})"`
  const bearer = '-H "Authorization: Bearer $token"'
  const create = `curl -sS $base/processes ${bearer} -H content-type:application/json -d '${JSON.stringify(hi)}'`
  const run = `curl -sS "$host/api/${team}/webhooks/hi?name=world"`
  const list = `curl -sS "$base/executions?keywords=hi&limit=1" ${bearer}`
  const plan = hiExists ? 'run hi over its webhook, see its last run' : 'create the process hi, run it over its webhook'
  return [
    '',
    `  Get an access token, ${plan}:`,
    '',
    `host=${address}; base=$host/api/${team}/rest; token=$(${exchange} | cut -d'"' -f4)`,
    '',
    ...(hiExists ? [run, '', list] : [create, '', run]),
  ]
}

/** A path as a word for a shell, from the working directory where that is shorter. */
function shown(path: string): string {
  const near = relative('', path)
  const word = near.length < path.length ? near : path
  return /^[\w/.@+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

interface System extends Omit<BannerFacts, 'hiExists' | 'isolation' | 'withoutPython' | 'consoleLink'> {
  consoleUrl: string | undefined
  /** What the parts say of themselves. */
  checks: Check[]
}

/** Prints where the system is and how to use it. */
export async function welcome(
  neighbours: Pick<Neighbours, 'client'>,
  { checks, consoleUrl, ...system }: System,
): Promise<void> {
  const isolation = checks.find(({ name }) => name === 'isolation')
  const withoutPython = checks.find(({ name }) => name === 'python')?.detail
  const hiExists = await exists(neighbours, system.team, 'hi')
  const link = consoleUrl === undefined ? undefined : await consoleLink(neighbours, consoleUrl, { team: system.team })
  process.stdout.write(
    banner({ ...system, isolation, withoutPython, hiExists, ...(link !== undefined && { consoleLink: link }) }),
  )
}

async function exists(neighbours: Pick<Neighbours, 'client'>, team: string, slug: string): Promise<boolean> {
  const context = ownContext(asService('embedded', team), 10_000)
  try {
    await neighbours.client(ProcessService).getProcess({ identifier: slug }, context)
    return true
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') return false
    throw error
  }
}
