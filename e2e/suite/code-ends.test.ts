import { describe, expect, test } from 'vitest'
import { awaitLogs, execute, awaitEnd, expectLastWord, makeProcess, executeSync, runCode } from './runs.ts'

const explanationOf = async (source: string, input: Record<string, unknown> = {}) => {
  const { execution } = await runCode(source, input)
  expect(execution.status).toBe('ERROR')
  return execution.timeline.events.at(-1)?.explanation ?? ''
}

describe('how a run ends', () => {
  test.for([
    ['a throw', 'throw new TypeError("wrong")', /^TypeError: wrong$/],
    ['a promise that can never settle', 'await new Promise(() => {})', /settle|never|pending/i],
    ['process.exit(0)', 'process.exit(0)', /exit/i],
  ] as const)('%s is ERROR with the reason', async ([, source, explanation]) => {
    expect(await explanationOf(source)).toMatch(explanation)
  })

  test('a value just below the limit arrives whole and is stored', async () => {
    const { answer, execution } = await runCode('return "y".repeat(5 * 1024 * 1024 - 100)')
    expect(answer.status).toBe(203)
    expect((answer.body as string).length).toBe(5 * 1024 * 1024 - 100)
    expect(execution.returnValue?.length).toBe(5 * 1024 * 1024 - 98)
  })

  test.for([
    // Of large arrays: many small objects would be looked through again and again before the heap is full.
    ['the heap', 'const a = []; for (;;) a.push(new Array(1e6).fill(0.5))'],
    ['buffers', 'const a = []; for (;;) a.push(Buffer.alloc(32 * 1024 * 1024, 1))'],
  ] as const)(
    'running out of memory in %s ends the run alone, with the reason',
    { timeout: 130_000 },
    async ([, source]) => {
      const process = await makeProcess({ sourceCode: source })
      const beside = await makeProcess({ sourceCode: 'return 1' })
      const id = await execute(process)
      expect((await executeSync(beside)).body).toBe(1)
      const execution = await awaitEnd(id, 120_000)
      expect(execution.status).toBe('ERROR')
      expect(execution.timeline.events.at(-1)?.explanation).toMatch(/memory|allocation|RangeError/i)
      await expectLastWord(execution)
    },
  )

  test('a machine without memory ends runs before the runner', async () => {
    const sourceCode = "return require('fs').readFileSync('/proc/self/oom_score_adj', 'utf8')"
    expect((await executeSync(await makeProcess({ sourceCode }))).body).toBe('1000\n')
  })

  test('what was logged before the end is there, the error last', async () => {
    const id = await execute(
      await makeProcess({ sourceCode: 'for (let n = 0; n < 200; n += 1) console.log(n); throw new Error("end")' }),
    )
    await awaitEnd(id)
    const logs = await awaitLogs(id, (entries) => entries.length >= 201)
    expect(logs.slice(0, 200).map(({ message }) => message)).toEqual(Array.from({ length: 200 }, (_, n) => `${n}`))
    expect(logs.at(-1)).toMatchObject({ level: 'ERROR', message: expect.stringContaining('Error: end') })
  })
})
