import { describe, expect, it } from 'vitest'
import { restCurl, startInCode } from '../src/rules/as-curl.ts'
import { withoutSecrets } from '../src/rules/json-schema.ts'
import { readCurl } from '../src/rules/read-curl.ts'

describe('an act as a command', () => {
  const start = { slug: 'greeting', parameters: { name: "Ada's", loud: true, from: null } }

  it('is a call by curl whose token stays in the shell', () => {
    const call = {
      method: 'POST',
      path: '/processes/greeting/execute',
      body: { parameters: start.parameters },
    } as const
    expect(restCurl('http://here', 'demo', call)).toBe(
      [
        `curl -sS -X POST 'http://here/api/demo/rest/processes/greeting/execute'`,
        `  -H "Authorization: Bearer $token"`,
        `  -H 'Content-Type: application/json'`,
        String.raw`  -d '{"parameters":{"name":"Ada'\''s","loud":true,"from":null}}'`,
      ].join(' \\\n'),
    )
  })

  it('has the filters of a list, without those that are empty', () => {
    const query = { status: ['ERROR', 'KILLED'], q: 'a b', page: '', from: undefined, limit: 50 }
    expect(restCurl('http://here', 'demo', { path: '/executions', query })).toContain(
      `'http://here/api/demo/rest/executions?status=ERROR&status=KILLED&q=a+b&limit=50'`,
    )
  })

  it('is process code of both languages', () => {
    expect(startInCode(start, 'JAVASCRIPT')).toBe(
      `const value = await svc.processes.runSync("greeting", { parameters: { "name": "Ada's", "loud": true, "from": null } })`,
    )
    expect(startInCode({ ...start, tag: 'v1' }, 'PYTHON')).toBe(
      `value = svc.processes.run_sync("greeting", parameters={"name": "Ada's", "loud": True, "from": None}, tag="v1")`,
    )
  })

  it('names a secret and does not tell it', () => {
    const schema = {
      properties: { user: { type: 'string' }, pin: { $ref: '#/$defs/pin' } },
      $defs: { pin: { format: 'password' } },
    }
    expect(withoutSecrets(schema, { user: 'ada', pin: '1234' })).toEqual({ user: 'ada', pin: 'SECRET' })
  })
})

describe('a pasted curl command', () => {
  it('tells the request of a webhook, without its credentials', () => {
    const text = String.raw`curl -sS 'http://here/api/demo/webhooks/greeting?a=1' \
      -H 'Content-Type: text/plain' -H "Authorization: Bearer x" -d 'it'\''s "here"' `
    expect(readCurl(text)).toEqual({
      kind: 'webhook',
      slug: 'greeting',
      request: { method: 'POST', query: 'a=1', headers: 'Content-Type: text/plain', body: `it's "here"` },
    })
  })

  it('reads back what the console has copied', () => {
    const parameters = { name: "Ada's", lines: 'a\nb' }
    const copied = restCurl('http://here', 'demo', {
      method: 'POST',
      path: '/processes/x/execute',
      body: { parameters },
    })
    expect(readCurl(copied)).toEqual({ kind: 'start', slug: 'x', parameters })
  })

  it.each([
    'curly words',
    'curl',
    'curl http://elsewhere/page',
    'curl http://here/api/demo/rest/team',
    'curl http://here/api/demo/webhooks/%zz',
    'curl http://here/api/demo/rest/processes/%zz/execute',
  ])('is nothing that has a page: %s', (text) => expect(readCurl(text)).toBeUndefined())
})
