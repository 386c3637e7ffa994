import { expect } from 'vitest'
import type { Answer } from '../client/client.ts'
import { leakIn } from '../client/leaks.ts'
import type { Problem } from '../client/records.ts'

export interface ExpectedProblem {
  code?: string | RegExp
  /** The JSON pointer of a field that must be among the faults; a pattern where only its end is fixed. */
  path?: string | RegExp
  executionId?: string
}

/** Asserts that an answer is a refusal in the one form that all have, and gives it. */
export function expectProblem(answer: Answer, status: number, expected: ExpectedProblem = {}): Problem {
  expect(answer.status, answer.text.slice(0, 500)).toBe(status)
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json\b/)
  const problem = answer.body as Problem
  expect(problem).toMatchObject({
    type: expect.any(String),
    title: expect.stringMatching(/\S/),
    status,
    detail: expect.stringMatching(/\S/),
    instance: expect.any(String),
    code: expect.stringMatching(/^[a-z][a-z0-9_]*$/),
    requestId: answer.headers.get('x-request-id'),
  })
  expect(problem.message).toBe(problem.detail)
  // What process code has failed with is its own word.
  expect(leakIn(JSON.stringify({ ...problem, error: undefined }))).toBeUndefined()
  if (expected.code !== undefined) expect(problem.code).toMatch(exactly(expected.code))
  if (expected.executionId !== undefined) expect(problem.executionId).toBe(expected.executionId)
  if (expected.path !== undefined) {
    const { path } = expected
    const paths = (problem.errors ?? []).map((fault) => fault.path)
    expect(
      paths.some((found) => exactly(path).test(found)),
      `${path} among ${JSON.stringify(paths)}`,
    ).toBe(true)
    for (const fault of problem.errors ?? []) expect(fault.message).toMatch(/\S/)
  }
  return problem
}

function exactly(expected: string | RegExp): RegExp {
  return typeof expected === 'string' ? new RegExp(`^${RegExp.escape(expected)}$`) : expected
}
