import { describe, expect, test } from 'vitest'
import { send } from '../client/client.ts'
import type { Process } from '../client/records.ts'
import { expectProblem } from './problem.ts'
import { executionOf, makeProcess, makeWebhook, publish } from './runs.ts'
import { client, hasOther, other, shared, unique } from './shared-system.ts'

describe('webhook headers', () => {
  test('Initiated-By and Comment are kept on the execution; the creator is the webhook', async () => {
    const { slug } = await makeWebhook('return 1')
    const headers = { 'svc-initiated-by': 'bob', 'svc-comment': 'from the shop' }
    const answer = await client.webhook('GET', slug, { headers })
    const execution = await executionOf(answer.headers.get('svc-execution-id') ?? '')
    expect(execution).toMatchObject({ initiatedBy: 'bob', comment: 'from the shop', createdBy: 'webhook' })
  })

  test('Version-Tag takes a tag, an alias or a version id', async () => {
    const process = await makeWebhook('return 0')
    const version = await publish(process, { tag: 'v1', sourceCode: 'return 1' })
    await client.post(`/processes/${process.id}/aliases`, { name: 'live', versionId: version.id })
    for (const tag of ['v1', 'live', version.id])
      expect((await client.webhook('GET', process.slug, { headers: { 'svc-version-tag': tag } })).text).toBe('1')
    expect((await client.webhook('GET', process.slug, { headers: { 'svc-version-tag': '' } })).text).toBe('0')
    expectProblem(await client.webhook('GET', process.slug, { headers: { 'svc-version-tag': 'v9' } }), 404, {
      code: 'version_not_found',
    })
  })

  test('a configured Agent-Pool is used, an unknown one refused', async () => {
    const { slug } = await makeWebhook('return 1')
    expect((await client.webhook('GET', slug, { headers: { 'svc-agent-pool': 'default' } })).status).toBe(200)
    expectProblem(await client.webhook('GET', slug, { headers: { 'svc-agent-pool': 'nope' } }), 400)
  })
})

describe('webhook access', () => {
  test('Basic credentials are asked for where they are set, and the creator is the user', async () => {
    const { slug } = await makeWebhook('return 1', { webhook: { enabled: true, username: 'üser', password: 'p:wörd' } })
    const basic = (text: string) => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } })
    const right = await client.webhook('GET', slug, basic('üser:p:wörd'))
    expect(right.status).toBe(200)
    expect((await executionOf(right.headers.get('svc-execution-id') ?? '')).createdBy).toBe('üser')
    const wrong = [
      {},
      basic('üser:wrong'),
      basic('other:p:wörd'),
      basic('üser'),
      basic(''),
      { headers: { authorization: 'Bearer x' } },
    ]
    for (const options of wrong) {
      const answer = await client.webhook('GET', slug, options)
      expectProblem(answer, 401)
      expect(answer.headers.get('www-authenticate')).toBe(
        `Basic realm="webhook ${shared.main.team}/${slug}", charset="UTF-8"`,
      )
    }
  })

  test('many wrong passwords in a row are answered 429 with Retry-After', async () => {
    const { slug } = await makeWebhook('return 1', { webhook: { enabled: true, username: 'u', password: 'p' } })
    const headers = { authorization: `Basic ${btoa('u:wrong')}` }
    const answers = []
    // Each replica counts for itself.
    while (answers.at(-1)?.status !== 429 && answers.length < 50)
      answers.push(await client.webhook('GET', slug, { headers }))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 401))
    expect(statuses.at(-1)).toBe(429)
    expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  test('unknown, disabled and foreign webhooks all answer the same 404', async () => {
    const disabled = await makeProcess({ sourceCode: 'return 1' })
    const foreign = hasOther
      ? await makeProcess({ sourceCode: 'return 1', webhook: { enabled: true } }, other)
      : undefined
    const slugs = [
      disabled.slug,
      disabled.id,
      unique('no'),
      crypto.randomUUID(),
      'Not A Slug',
      ...(foreign ? [foreign.slug, foreign.id] : []),
    ]
    const answers = await Promise.all(
      slugs.flatMap((slug) =>
        (['GET', 'POST'] as const).map((method) => client.webhook(method, encodeURIComponent(slug))),
      ),
    )
    const shown = answers
      .map((answer) => expectProblem(answer, 404))
      .map(({ code, detail, title }) => `${code} ${title} ${detail}`)
    expect(new Set(shown).size).toBe(1)
    const team = await send(`${shared.host}/api/no-such-team/webhooks/x`, 'GET')
    expect(expectProblem(team, 404).code).toBe(expectProblem(answers[0] as (typeof answers)[0], 404).code)
  })

  test('disabling takes effect with the next call', async () => {
    const process = await makeWebhook('return 1')
    expect((await client.webhook('GET', process.slug)).status).toBe(200)
    await client.patch(`/processes/${process.id}`, { webhook: { enabled: false } })
    expectProblem(await client.webhook('GET', process.slug), 404)
  })

  test('from other addresses than the allowed ones it answers as one that is not there, with the next call', async () => {
    const process = await makeWebhook('return 1')
    const allow = (allowedAddresses: string[] | null) =>
      client.patch<Process>(`/processes/${process.id}`, { webhook: { allowedAddresses } })
    const { body, text } = await allow(['192.0.2.0/24', '2001:db8::/32'])
    expect(body.webhook, text).toEqual({ enabled: true, allowedAddresses: ['192.0.2.0/24', '2001:db8::/32'] })
    const [refused, absent] = [await client.webhook('POST', process.slug), await client.webhook('POST', unique('no'))]
    const shown = [refused, absent].map((answer) => {
      const { code, title, detail } = expectProblem(answer, 404)
      return { code, title, detail }
    })
    expect(shown[0]).toEqual(shown[1])
    expect((await client.post(`/processes/${process.id}/execute-sync`, {})).status).toBe(203)
    await allow(['0.0.0.0/0', '::/0'])
    expect((await client.webhook('POST', process.slug)).status).toBe(200)
    expect((await allow(null)).body.webhook).toEqual({ enabled: true })
    expect((await client.webhook('POST', process.slug)).status).toBe(200)
    expectProblem(await allow(['10.0.0.0/33']), 400, { path: '/webhook/allowedAddresses/0' })
  })

  test('HEAD and other methods never start a run: 405 with Allow', async () => {
    const process = await makeWebhook('return 1')
    for (const method of ['HEAD', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await client.webhook(method, process.slug)
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toMatch(/GET.*POST|POST.*GET/)
      if (method !== 'HEAD') expectProblem(answer, 405)
    }
    const list = await client.get<{ total: number }>('/executions', { processId: process.id })
    expect(list.body.total).toBe(0)
  })

  test.skipIf(!shared.owned)(
    'OPTIONS answers the CORS preflight of a configured origin and starts nothing',
    async () => {
      const process = await makeWebhook('return 1')
      const headers = {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      }
      const answer = await client.webhook('OPTIONS', process.slug, { headers })
      expect([200, 204]).toContain(answer.status)
      expect(answer.headers.get('access-control-allow-methods')).toMatch(/POST/)
      expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.example')
      const list = await client.get<{ total: number }>('/executions', { processId: process.id })
      expect(list.body.total).toBe(0)
    },
  )
})
