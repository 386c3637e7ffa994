import { expect, test } from 'vitest'
import { auditIn, outcomeOf, type Audit } from '../check/advisories.ts'

const found = (severity: string) =>
  JSON.stringify({
    vulnerabilities: {
      leaky: {
        via: [
          { name: 'leaky', severity, range: '<2.0.0', title: 'Leaks', url: 'https://github.com/advisories/GHSA-1' },
        ],
      },
      needsIt: { via: ['leaky'] },
    },
    metadata: { vulnerabilities: { [severity]: 2 } },
  })
const line = (severity: string) => `leaky <2.0.0 (${severity}): Leaks https://github.com/advisories/GHSA-1`

test('grave advisories are named once, others and those that are accepted are not', () => {
  for (const severity of ['high', 'critical']) expect(auditIn(found(severity), '')).toEqual({ found: [line(severity)] })
  expect(auditIn(found('moderate'), '')).toEqual({ found: [] })
  expect(auditIn(found('high'), '', { 'GHSA-1': 'it is not called' })).toEqual({ found: [] })
})

test('what is found fails a change of the lock file, and is told of a commit without failing it', () => {
  const audit = auditIn(found('high'), '')
  expect(outcomeOf(audit, true)).toEqual({ ok: false, output: line('high') })
  expect(outcomeOf(audit, false)).toEqual({ ok: true, output: '', warning: line('high') })
  expect(outcomeOf({ found: [] }, true)).toEqual({ ok: true, output: '' })
})

test('a registry that takes no audits leaves the step out, and that is said', () => {
  const refused = auditIn(JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405 }), '')
  for (const isChanged of [true, false])
    expect(outcomeOf(refused, isChanged)).toMatchObject({ ok: true, leftOut: expect.stringContaining('not looked at') })
})

test('an audit that was not answered fails a change, and no commit', () => {
  const unanswered: Audit[] = [
    auditIn('', 'npm error audit endpoint returned an error'),
    auditIn(JSON.stringify({ statusCode: 503 }), ''),
  ]
  for (const audit of unanswered) {
    expect(outcomeOf(audit, true).ok).toBe(false)
    expect(outcomeOf(audit, false)).toMatchObject({ ok: true, warning: expect.stringContaining('gave no report') })
  }
})
