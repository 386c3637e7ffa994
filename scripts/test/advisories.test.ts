import { expect, test } from 'vitest'
import { outcomeOf } from '../check/advisories.ts'

const found = (severity: string) =>
  JSON.stringify({
    vulnerabilities: { leaky: { name: 'leaky', severity, range: '<2.0.0' } },
    metadata: { vulnerabilities: { [severity]: 1 } },
  })

test('grave advisories fail the check and are named', () => {
  for (const severity of ['high', 'critical'])
    expect(outcomeOf(found(severity), '')).toEqual({ ok: false, output: `leaky <2.0.0 (${severity})` })
  expect(outcomeOf(found('moderate'), '').ok).toBe(true)
})

test('a registry that takes no audits leaves the step out, and that is said', () => {
  const refused = outcomeOf(JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405 }), '')
  expect(refused).toMatchObject({ ok: true, leftOut: expect.stringContaining('were not looked at') })
})

test('an audit that was not answered fails', () => {
  expect(outcomeOf('', 'npm error audit endpoint returned an error')).toMatchObject({
    ok: false,
    output: expect.stringContaining('endpoint returned an error'),
  })
  expect(outcomeOf(JSON.stringify({ statusCode: 503 }), '').ok).toBe(false)
})
