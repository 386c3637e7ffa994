import { randomBytes } from 'node:crypto'
import { Language } from '@automation/contract/common/v1/language'
import { afterAll, describe, expect, test } from 'vitest'
import { environment, leaves, looks, opened } from './left-by-runs.ts'
import { startBehind, titleOf, levels } from './levels.ts'

process.env['DATABASE_URL'] = 'canary'
afterAll(() => void delete process.env['DATABASE_URL'])

for (const level of levels) {
  const under = await startBehind(level, {})
  describe.skipIf(under === undefined)(titleOf(level), () => {
    afterAll(() => under?.stop())

    describe.for(['javascript', 'python'] as const)('%s', (language) => {
      const spec = { language: language === 'python' ? Language.PYTHON : Language.JAVASCRIPT }

      test('a run finds nothing of the one before', async () => {
        const mark = `mark-${randomBytes(12).toString('hex')}`
        expect((await under!.replica.run(leaves[language](mark), { spec })).value).toBe(1)
        const { value, explanation } = await under!.replica.run(looks[language](mark), { spec })
        expect(value ?? explanation).toEqual([[], []])
      })

      test('a run finds what it has left itself, as a control', async () => {
        const mark = `mark-${randomBytes(12).toString('hex')}`
        const both = `${leaves[language](mark).replace(/return 1$/, '')}\n${language === 'python' ? looks.python(mark) : `{${looks.javascript(mark)}}`}`
        const { value, explanation } = await under!.replica.run(both.replace('} catch {}\n    \n{', '} catch {}\n{'), {
          spec,
        })
        expect(value ?? explanation).toMatchObject([expect.arrayContaining(['environment']), ['left']])
      })

      test('a run has no descriptor but its own, and no variable of the service', async () => {
        expect((await under!.replica.run(opened[language], { spec })).value).toEqual([])
        const names = (await under!.replica.run(environment[language], { spec })).value
        expect(names).toContain('PATH')
        expect(names).not.toContain('DATABASE_URL')
      })
    })
  })
}
