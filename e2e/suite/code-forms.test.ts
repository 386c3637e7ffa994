import { describe, expect, test } from 'vitest'
import { executeSync, makeProcess, makeWebhook, runProcess, valueOf } from './runs.ts'
import { client, shared } from './shared-system.ts'

const languages = ['JAVASCRIPT', 'PYTHON'] as const

describe('the forms of JavaScript code', () => {
  test.for([
    ['a top-level return', 'return 1 + 1', 2],
    ['top-level await', 'const n = await Promise.resolve(20); return n + 1', 21],
    ['nothing', '', null],
    ['exports.main', 'exports.main = async () => 5', 5],
    ['an exported main', 'export function main() { return 8 }', 8],
    ['default import', "import path from 'path'\nexport const main = () => path.extname('a.js')", '.js'],
    ['import { context }', "import { context } from 'svc'\nreturn context.parameters", {}],
    ['require svc', "return require('svc') === svc", true],
  ] as const)('%s', async ([, source, value]) => {
    expect(await valueOf(source)).toEqual(value)
  })

  test.for(languages)('a process in %s can be stored with a syntax error and mended', async (programmingLanguage) => {
    const process = await makeProcess({ programmingLanguage, sourceCode: 'return (' })
    const { execution } = await runProcess(process)
    expect(execution.timeline.events.at(-1)?.explanation).toMatch(/^SyntaxError: /)
    await client.patch(`/processes/${process.id}`, { sourceCode: 'return (1)' })
    expect((await executeSync(process)).body).toBe(1)
  })
})

describe('what code sees', () => {
  test.for(languages)('its execution, process and team in %s', async (programmingLanguage) => {
    const sourceCode = 'return { "execution": svc.execution, "team": svc.team }'
    const process = await makeProcess({ programmingLanguage, sourceCode })
    const answer = await executeSync(process, { comment: 'seen' })
    expect(answer.body).toEqual({
      execution: {
        id: answer.headers.get('svc-execution-id'),
        comment: 'seen',
        process: { id: process.id, name: process.name, slug: process.slug },
        timezone: expect.any(String),
      },
      team: { slug: shared.main.team, timezone: expect.any(String) },
    })
  })

  test('no request outside webhooks, and the request in them', async () => {
    const source = 'return svc.context.request ? svc.context.request.method : "none"'
    expect(await valueOf(source)).toBe('none')
    const { slug } = await makeWebhook(source)
    expect((await client.webhook('POST', slug)).text).toBe('POST')
  })

  test.skipIf(!shared.owned)('a second name of the global works, as global and as package', async () => {
    expect(await valueOf("return [acme === svc, require('acme') === svc]")).toEqual([true, true])
    expect(await valueOf("import { team } from 'acme'\nreturn team.slug")).toBe(shared.main.team)
  })

  test('nothing of the service in its environment, arguments or parent', async () => {
    const shown = JSON.stringify(await valueOf('return [process.env, process.argv, process.execArgv]'))
    for (const secret of [
      'DATABASE_URL',
      'INTERNAL_KEY',
      'ENCRYPTION_KEY',
      'BOOTSTRAP',
      'RUNNER_KEY',
      'postgres',
      shared.main.apiToken,
    ])
      expect(shown).not.toContain(secret)
  })

  test('a private directory that is gone after the run', async () => {
    const source = `const fs = require('fs'), path = require('path')
      const file = path.join(process.env.TMP_DATA_DIR, 'a.txt'); fs.writeFileSync(file, 'x')
      return [process.env.TMP_DATA_DIR, fs.readdirSync(process.env.TMP_DATA_DIR)]`
    const process = await makeProcess({ sourceCode: source })
    const [first, second] = [
      await executeSync<[string, string[]]>(process),
      await executeSync<[string, string[]]>(process),
    ]
    expect(first.body[1]).toEqual(['a.txt'])
    expect(second.body[1]).toEqual(['a.txt'])
    // In isolation each child has a directory of its own by the same name.
    const seen = `try { return require('fs').readdirSync(${JSON.stringify(first.body[0])}) } catch { return [] }`
    expect(first.body[0] === second.body[0] ? [] : await valueOf(seen)).not.toContain('a.txt')
  })

  test('a run sees nothing that the run before left behind', async () => {
    const process = await makeProcess({
      sourceCode: `const before = [globalThis.left ?? null, process.env.LEFT ?? null, [].left ?? null]
        globalThis.left = 1; process.env.LEFT = '1'; Array.prototype.left = 1; return before`,
    })
    for (let n = 0; n < 4; n += 1) expect((await executeSync(process)).body).toEqual([null, null, null])
  })

  test('freshProcess gives each run a process of its own', async () => {
    const process = await makeProcess({ sourceCode: 'return process.pid' })
    const input = { settings: { freshProcess: true } }
    const pids = [
      await executeSync(process, input),
      await executeSync(process, input),
      await executeSync(process, input),
    ]
    expect(new Set(pids.map(({ body }) => body)).size).toBe(3)
  })
})
