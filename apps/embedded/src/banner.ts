import type { Bootstrap } from './bootstrap.ts'

interface BannerFacts extends Bootstrap {
  address: string
  /** Whether the team has the process `hello` already, from an earlier start. */
  helloExists: boolean
}

const hello = {
  name: 'hello',
  sourceCode: 'const { name } = svc.context.parameters\nconsole.log("hello", name)\nreturn { hello: name }',
  webhook: { enabled: true },
}

/** What people see once the system is up: where it is, how to get in, and three commands to paste. */
export function banner(facts: BannerFacts): string {
  const { address, team, tokenFile, freshToken } = facts
  return [
    '',
    `  address:  ${address}   (API document: ${address}/docs)`,
    `  team:     ${team}`,
    `  token:    ${tokenLine(facts)}`,
    ...(freshToken === undefined ? [] : [`            shown this once, kept in ${tokenFile}`]),
    ...(tokenFile === undefined ? [] : commands(facts, tokenFile)),
    '',
    '',
  ].join('\n')
}

function tokenLine({ team, freshToken, tokenFile }: BannerFacts): string {
  if (freshToken !== undefined) return freshToken
  if (tokenFile !== undefined) return `in ${tokenFile}`
  return `make one with: npm run --silent admin -- tokens create ${team}`
}

function commands({ address, team, helloExists }: BannerFacts, tokenFile: string): string[] {
  const rest = `${address}/api/${team}/rest`
  const bearer = `-H "Authorization: Bearer $(${accessToken(rest, tokenFile)})"`
  const write = helloExists ? `-X PATCH ${rest}/processes/hello` : `-X POST ${rest}/processes`
  const newest = `$(curl -sS ${bearer} '${rest}/executions?keywords=hello&limit=1' | ${pick('["data"][0]["id"]')})`
  return [
    '',
    helloExists
      ? '  Change the process hello, run it over its webhook, read what it logged:'
      : '  Create a process, run it over its webhook, read what it logged:',
    '',
    `curl -sS ${write} -H 'Content-Type: application/json' ${bearer} -d '${JSON.stringify(hello)}'`,
    '',
    `curl -sS ${address}/api/${team}/webhooks/hello -H 'Content-Type: application/json' -d '{"name":"world"}'`,
    '',
    `curl -sS ${bearer} "${rest}/executions/${newest}/logs"`,
  ]
}

function accessToken(rest: string, tokenFile: string): string {
  return `curl -sS -X POST ${rest}/auth/token -H "x-api-token: $(cat ${quoted(tokenFile)})" | ${pick('["access_token"]')}`
}

function pick(path: string): string {
  return `python3 -c 'import json,sys; print(json.load(sys.stdin)${path})'`
}

/** A word for a shell. */
function quoted(path: string): string {
  return /^[\w/.@+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
