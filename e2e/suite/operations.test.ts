import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { send } from '../client/client.ts'
import { shared } from './shared-system.ts'

const get = (path: string) => send<Record<string, unknown>>(`${shared.host}${path}`, 'GET')

/** Every operation of this release, as `METHOD path` below /api/{team}. */
const operations = [
  'POST /rest/auth/token',
  'GET /rest/team',
  'PATCH /rest/team',
  'GET /rest/processes',
  'POST /rest/processes',
  'GET /rest/processes/{}',
  'PATCH /rest/processes/{}',
  'DELETE /rest/processes/{}',
  'GET /rest/processes/{}/versions',
  'POST /rest/processes/{}/versions',
  'GET /rest/processes/{}/versions/{}',
  'DELETE /rest/processes/{}/versions/{}',
  'GET /rest/processes/{}/aliases',
  'POST /rest/processes/{}/aliases',
  'GET /rest/processes/{}/aliases/{}',
  'PATCH /rest/processes/{}/aliases/{}',
  'DELETE /rest/processes/{}/aliases/{}',
  'POST /rest/processes/{}/schedule',
  'POST /rest/processes/{}/execute',
  'POST /rest/processes/{}/execute-sync',
  'GET /rest/executions',
  'GET /rest/executions/{}',
  'GET /rest/executions/{}/logs',
  'GET /rest/executions/{}/events',
  'PUT /rest/executions/{}/kill',
  'POST /rest/executions/{}/rerun',
  'GET /rest/schedules',
  'GET /rest/schedules/{}',
  'PATCH /rest/schedules/{}',
  'DELETE /rest/schedules/{}',
  'PUT /rest/schedules/{}/pause',
  'PUT /rest/schedules/{}/resume',
  'GET /rest/modules',
  'POST /rest/modules',
  'GET /rest/modules/{}',
  'PATCH /rest/modules/{}',
  'DELETE /rest/modules/{}',
  'GET /rest/modules/{}/versions',
  'POST /rest/modules/{}/versions',
  'GET /rest/modules/{}/versions/{}',
  'DELETE /rest/modules/{}/versions/{}',
  'GET /rest/modules/{}/aliases',
  'POST /rest/modules/{}/aliases',
  'GET /rest/modules/{}/aliases/{}',
  'PATCH /rest/modules/{}/aliases/{}',
  'DELETE /rest/modules/{}/aliases/{}',
  'GET /rest/variables',
  'POST /rest/variables',
  'PATCH /rest/variables/{}',
  'DELETE /rest/variables/{}',
  'GET /rest/dependencies/{}',
  'PUT /rest/dependencies/{}',
  'POST /rest/dependencies/{}/install',
  'DELETE /rest/dependencies/{}/install',
  'GET /rest/storage/objects',
  'POST /rest/storage/objects',
  'GET /rest/storage/objects/{}',
  'DELETE /rest/storage/objects/{}',
  'POST /rest/storage/signed-urls',
  'GET /rest/storage/signed/{}',
  'GET /rest/sandboxes',
  'POST /rest/sandboxes',
  'GET /rest/sandboxes/{}',
  'POST /rest/sandboxes/{}',
  'POST /rest/sandboxes/{}/kill',
  'GET /webhooks/{}',
  'POST /webhooks/{}',
]

describe('the interface describes itself', () => {
  test('/openapi.json is a valid OpenAPI 3.1 document', async () => {
    const { status, body } = await get('/openapi.json')
    expect(status).toBe(200)
    expect(body['openapi']).toMatch(/^3\.1\./)
    const { valid, errors } = await new Validator().validate(structuredClone(body))
    expect(valid, JSON.stringify(errors)).toBe(true)
  })

  test('it lists every operation, each with its answers', async () => {
    const { body } = await get('/openapi.json')
    const paths = body['paths'] as Record<string, Record<string, { responses?: Record<string, unknown> }>>
    const listed = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map(
        (method) => `${method.toUpperCase()} ${path.replace(/^\/api\/\{\w+\}/, '').replaceAll(/\{\w+\}/g, '{}')}`,
      ),
    )
    expect(operations.filter((operation) => !listed.includes(operation))).toEqual([])
    for (const item of Object.values(paths))
      for (const method of ['get', 'post', 'put', 'patch', 'delete'])
        if (item[method]) expect(Object.keys(item[method].responses ?? {}).length).toBeGreaterThan(1)
  })

  test('it names the security scheme and the scope', async () => {
    const { text } = await get('/openapi.json')
    expect(text).toContain('securitySchemes')
    expect(text).toContain('executor')
  })

  test('/docs is a page that needs nothing from elsewhere', async () => {
    const answer = await get('/docs')
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/)
    const sources = [...answer.text.matchAll(/(?:src|href)\s*=\s*["']([^"']+)["']/g)].map(([, source = '']) => source)
    const foreign = sources.filter((source) => /^(https?:)?\/\//.test(source) && !source.startsWith(shared.host))
    expect(foreign).toEqual([])
    for (const source of sources.filter((one) => /\.(js|css)$/.test(one)))
      expect((await fetch(new URL(source, `${shared.host}/docs`))).status).toBe(200)
  })
})

describe('operating it', () => {
  test('/livez and /readyz answer 200', async () => {
    for (const path of ['/livez', '/readyz']) expect((await get(path)).status).toBe(200)
  })

  test('details and metrics are not on the public port', async () => {
    expect((await get('/metrics')).status).toBe(404)
    expect(JSON.parse((await get('/readyz')).text)).toEqual({ status: 'ready' })
  })

  test('these need no token and show no secret', async () => {
    for (const path of ['/livez', '/readyz', '/openapi.json']) {
      const { text } = await get(path)
      expect(text).not.toContain(shared.main.apiToken)
      expect(text).not.toContain(shared.main.accessToken)
    }
  })
})
