import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../client/client.ts'
import type { Execution, Page, Process } from '../client/records.ts'
import { waitUntil } from '../system/wait-until.ts'
import { eventsOf } from './audit-events.ts'
import { admin, dataDir, ownTeam } from './own-team.ts'
import { shared } from './shared-system.ts'

/** Somebody's browser at the console: it keeps the cookie, and its pages send what pages of the console send. */
class Person {
  readonly #console: string
  cookie = ''

  constructor(console: string) {
    this.#console = console
  }

  async ask(method: string, path: string, body?: unknown): Promise<Response> {
    const headers = {
      cookie: this.cookie,
      origin: this.#console,
      'x-console': '1',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const answer = await fetch(`${this.#console}${path}`, { method, headers, body: JSON.stringify(body) })
    const [set] = answer.headers.getSetCookie()
    if (set !== undefined) this.cookie = set.split(';', 1)[0] ?? ''
    return answer
  }

  async signIn(credentials: object): Promise<number> {
    return (await this.ask('POST', '/session', credentials)).status
  }
}

const echo = {
  name: 'echo',
  sourceCode: `return {
  status: 200,
  headers: { 'Set-Cookie': ['pa=theirs; Path=/', 'own=1'] },
  body: JSON.stringify(svc.context.request?.headers.cookie ?? ''),
}`,
  webhook: { enabled: true },
}

describe.skipIf(!shared.owned)('the console', { concurrent: false }, () => {
  let client: Client
  let apiToken: string
  const console = shared.own?.env['CONSOLE_URL'] ?? ''
  const person = () => new Person(console)

  beforeAll(async () => {
    ;({ client, apiToken } = await ownTeam('consoled'))
  })

  test('lets in who has the address that the start has printed, once', async () => {
    const [, code = ''] = /\/sign-in#code=([\w-]+)/.exec(await readFile(`${dataDir}.log`, 'utf8')) ?? []
    const ada = person()
    expect(await ada.signIn({ code })).toBe(201)
    expect(await person().signIn({ code })).toBe(401)
    expect(await (await ada.ask('GET', '/session')).json()).toMatchObject({
      signedIn: true,
      teams: [{ slug: shared.main.team, scopes: ['executor', 'admin'] }],
      apiUrl: shared.host,
    })
    // All that REST has, the accounts of others too.
    expect((await ada.ask('GET', `/api/${shared.main.team}/rest/auth/service-accounts`)).status).toBe(200)
    expect((await ada.ask('GET', '/api/consoled/rest/team')).status).toBe(403)
  })

  test('does what a person does in their name, and notes when they came and went', async () => {
    const { stdout } = await admin(['--json', 'console', 'link', 'consoled', '--name', 'Ada L'])
    const { url } = JSON.parse(stdout) as { url: string }
    expect(url).toMatch(`${console}/sign-in#code=`)
    const ada = person()
    expect(await ada.signIn({ code: url.split('=')[1] })).toBe(201)
    const created = (await (await ada.ask('POST', '/api/consoled/rest/processes', echo)).json()) as Process
    expect(created.createdBy).toBe('Ada L')
    const started = await ada.ask('POST', `/api/consoled/rest/processes/${created.id}/execute-sync`, {})
    expect(started.status).toBeLessThan(300)
    const { data } = (await (await ada.ask('GET', '/api/consoled/rest/executions')).json()) as Page<Execution>
    expect(data[0]).toMatchObject({ createdBy: 'Ada L', initiatedBy: 'Ada L' })

    const stream = await ada.ask('GET', '/api/consoled/rest/events')
    expect(stream.headers.get('content-type')).toContain('text/event-stream')
    const { cookie } = ada
    expect((await ada.ask('DELETE', '/session')).status).toBe(204)
    await expect(stream.text()).rejects.toThrow(/terminated|aborted/)
    ada.cookie = cookie
    const after = await ada.ask('GET', '/api/consoled/rest/team')
    expect(await after.json()).toMatchObject({ status: 401, code: 'session_ended' })
    const events = (await eventsOf({ type: 'TOKEN' }, client)).filter(({ user }) => user === 'Ada L')
    expect(events.map(({ event }) => event).toSorted()).toEqual(['session_closed', 'session_opened'])
  })

  test('shows its cookie to no webhook, which can not set it either', async () => {
    const ada = person()
    expect(await ada.signIn({ apiToken })).toBe(201)
    const headers = { cookie: `${ada.cookie}; theirs=2` }
    const answer = await fetch(`${shared.host}/api/consoled/webhooks/echo`, { headers })
    expect(await answer.json()).toBe('theirs=2')
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^own=1;/)])
    expect((await fetch(`${shared.host}/api/consoled/rest/team`, { headers })).status).toBe(401)
  })

  test('ends the sessions of an API token that is revoked', async () => {
    const { body } = await client.post<{ id: string; apiToken: string }>('/auth/service-accounts', {
      name: 'brief',
      scopes: ['read'],
    })
    const brief = person()
    expect(await brief.signIn({ apiToken: body.apiToken })).toBe(201)
    const read = async () => (await brief.ask('GET', '/api/consoled/rest/team')).status
    expect(await read()).toBe(200)
    expect((await brief.ask('POST', '/api/consoled/rest/processes', { name: 'x' })).status).toBe(403)
    await client.delete(`/auth/service-accounts/${body.id}`)
    await waitUntil('its session to end', async () => (await read()) === 401, { timeoutMs: 12_000, everyMs: 200 })
    expect(await brief.signIn({ apiToken: body.apiToken })).toBe(401)
  })

  test('ends the sessions of a team, and takes back its addresses, when an operator says so', async () => {
    const { stdout } = await admin(['--json', 'console', 'link'], { BOOTSTRAP_TEAM: 'consoled' })
    const { url } = JSON.parse(stdout) as { url: string }
    const ada = person()
    expect(await ada.signIn({ apiToken })).toBe(201)
    const end = (...args: string[]) => admin(['console', 'end', ...args])
    expect(await end()).toMatchObject({ code: 1, stderr: expect.stringContaining('name a team, or --all') as string })
    expect(await end('nobody')).toMatchObject({ code: 1, stderr: expect.stringContaining('team') as string })
    expect(await end('consoled')).toMatchObject({ code: 0, stdout: expect.stringContaining('have ended') as string })
    const status = async () => (await ada.ask('GET', '/api/consoled/rest/team')).status
    await waitUntil('its session to end', async () => (await status()) === 401, { timeoutMs: 12_000, everyMs: 200 })
    expect(await person().signIn({ code: url.split('=')[1] })).toBe(401)
    expect(await ada.signIn({ apiToken })).toBe(201)
  })

  test('has its pages there once they are built, and leads browsers to them', async () => {
    const page = async () => (await fetch(`${shared.host}/`, { headers: { accept: 'text/html' } })).status
    await waitUntil('the console to be built', async () => (await page()) === 200, { timeoutMs: 60_000, everyMs: 200 })
    const home = await (await fetch(`${console}/t/consoled`)).text()
    const [, program = ''] = /src="(\/assets\/start-[^"]+\.js)"/.exec(home) ?? []
    const answer = await fetch(`${console}${program}`, { headers: { 'accept-encoding': 'br' } })
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, 'br'])
  })
})
