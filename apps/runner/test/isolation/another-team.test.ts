import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { listening } from '@automation/testing/listening'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Language as RunLanguage } from '@automation/contract/common/v1/language'
import type { RunnerUnderTest } from '../runner-under-test.ts'
import { inBoth, sourceOf, type Attempt, type Found, type Language } from './attempt.ts'
import { languages } from './at-levels.ts'
import { startVictim, type Victim } from './victims.ts'
import { startBehind, titleOf, levels } from './levels.ts'

const connects = (name: string, port: string): Attempt =>
  inBoth(
    name,
    'every level',
    `return connects({ port: probe.${port}, host: '127.0.0.1' })`,
    `connects(socket.AF_INET, ('127.0.0.1', probe['${port}']))`,
  )
const attempts = [
  connects('reads a service of this machine', 'servicePort'),
  connects('connects to a port of another team’s run', 'port'),
]

const service = await listening(createServer((socket) => socket.on('error', () => undefined).end('of the machine')))
afterAll(service.close)

/** What a second team's run gets at, while one of the first waits; undefined where it never begins. */
async function foundBy(under: RunnerUnderTest, language: Language, victim: Victim) {
  const spec = { language: language === 'python' ? RunLanguage.PYTHON : RunLanguage.JAVASCRIPT, team: 'second' }
  const source = sourceOf(language, attempts, { port: victim.port, servicePort: service.port })
  const { value, explanation } = await under.replica.run(source, { spec })
  if (explanation === 'Error: The runner serves another team') return undefined
  return Object.values(value as Record<string, Found>).filter(({ got }) => got).length
}

// What a runner does by itself; where many teams are allowed all the same, as a control.
for (const level of levels) {
  const isOwn = level.settings['ISOLATION_NETWORK'] === 'own'
  describe.each([
    { many: 'false', gets: isOwn ? 0 : undefined },
    { many: 'true', gets: isOwn ? 0 : attempts.length },
  ])(`${titleOf(level)}, ISOLATION_MANY_TEAMS=$many, a second team`, async ({ many, gets }) => {
    const under = await startBehind(level, { ISOLATION_MANY_TEAMS: many })
    let victim: Victim | undefined
    beforeAll(async () => {
      if (under) victim = await startVictim(under, `mark-${randomBytes(12).toString('hex')}`, 'first')
    })
    afterAll(async () => {
      victim?.end()
      await under?.stop()
    })

    test.skipIf(under === undefined).for(languages)(
      `gets at ${gets ?? 'nothing, as its runs wait'} (%s)`,
      async (language) => {
        expect(await foundBy(under!, language, victim!)).toBe(gets)
      },
    )
  })
}
