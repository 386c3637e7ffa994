import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { headersOf, queryOf } from '../src/rules/header-lines.ts'
import { sampleParameters } from '../src/rules/sample-of.ts'
import { plainCurl, signatureCheck, signedCurl } from '../src/rules/webhook-examples.ts'
import { schemeNames, schemes } from '../src/rules/webhook-schemes.ts'

const url = 'http://localhost:8080/api/demo/webhooks/pay'

/** What a shell would pass to curl. */
function argumentsOfCurl(script: string): string[] {
  const shown = `curl() { for each in "$@"; do printf '%s\\0' "$each"; done; }\n${script}`
  return execFileSync('sh', ['-c', shown], { encoding: 'utf8' }).split('\0').slice(0, -1)
}

function headersIn(words: string[]): Record<string, string> {
  return headersOf(words.filter((_, index) => words[index - 1] === '-H').join('\n'))
}

/** What the code of a process answers to a request. */
function check(code: string, headers: Record<string, string>, rawBody: string): unknown {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const svc = { env: { KEY: 'SECRET' }, context: { request: { rawBody, headers: lower } } }
  const body = code.replace(/^import \{(.*)\} from '(.*)'/, "const {$1} = process.getBuiltinModule('$2')")
  // oxlint-disable-next-line no-implied-eval
  return (new Function('svc', 'process', body) as (svc: unknown, host: unknown) => unknown)(svc, process)
}

describe('a signed example of curl', () => {
  it.each(schemeNames)('passes the check that is shown for %s, and fails it with another body', (name) => {
    const words = argumentsOfCurl(signedCurl({ url, body: JSON.stringify({ text: "it's" }) }, schemes[name]))
    const body = words.at(-1) ?? ''
    expect(JSON.parse(body)).toEqual({ text: "it's" })
    const code = signatureCheck(schemes[name], 'KEY', 'JAVASCRIPT')
    expect(check(code, headersIn(words), body)).toBeUndefined()
    expect(check(code, headersIn(words), `${body} `)).toMatchObject({ status: 401 })
  })

  it('signs the body as GitHub does', () => {
    const words = argumentsOfCurl(signedCurl({ url, body: '{"a":1}' }, schemes.github))
    const digest = createHmac('sha256', 'SECRET').update('{"a":1}').digest('hex')
    expect(headersIn(words)['X-Hub-Signature-256']).toBe(`sha256=${digest}`)
  })

  it.each(schemeNames)('has a check in Python for %s that Python can read', (name) => {
    const code = signatureCheck(schemes[name], 'KEY', 'PYTHON')
    const wrapped = `def run(svc):\n${code.replaceAll(/^/gm, '    ')}`
    expect(() => execFileSync('python3', ['-c', `compile(${JSON.stringify(wrapped)}, "x", "exec")`])).not.toThrow()
  })
})

describe('an example of curl', () => {
  it('names the user that the webhook asks for', () => {
    expect(argumentsOfCurl(plainCurl({ url, body: '{}', username: 'shop' }))).toContain('shop:PASSWORD')
  })
})

describe('what people type for a request', () => {
  it('becomes headers, and a line that is none is named', () => {
    expect(headersOf('A: 1\n\nB-C:2:3')).toEqual({ A: '1', 'B-C': '2:3' })
    expect(() => headersOf('A: 1\nnothing')).toThrow('Line 2')
  })

  it('becomes a query whose repeated names have lists', () => {
    expect(queryOf('a=1&b=x%20y&a=2')).toEqual({ a: ['1', '2'], b: 'x y' })
  })
})

it('sample parameters follow the schema', () => {
  const schema = {
    type: 'object',
    properties: {
      amount: { type: 'integer' },
      unit: { enum: ['EUR', 'USD'] },
      tags: { type: 'array', items: { type: 'string' } },
      order: { properties: { id: { type: 'string', default: '4711' } } },
    },
  }
  expect(sampleParameters(schema)).toEqual({ amount: 1, unit: 'EUR', tags: ['text'], order: { id: '4711' } })
  expect(sampleParameters(null)).toEqual({ name: 'world' })
})
