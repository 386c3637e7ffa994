import { afterAll, describe, expect, test } from 'vitest'
import { forged, onChannels } from './forged-frames.ts'
import { startBehind, titleOf, levels } from './levels.ts'

for (const level of levels) {
  const under = await startBehind(level, { ISOLATION_MANY_TEAMS: 'true' })
  describe.skipIf(under === undefined)(titleOf(level), () => {
    afterAll(() => under?.stop())

    describe.each(onChannels)('$language', ({ run, waits, closes, source }) => {
      const spec = { language: run }

      test.for(forged)('%s hurts no other run', async ([, bytes]) => {
        const neighbour = under!.replica.hand(waits, { spec: { ...spec, team: 'others', processId: 'p-2' } })
        const attacker = await under!.replica.run(source(bytes), { spec, run: { timeoutMs: 3000 } })
        // It ends by itself, or its child is ended, and says so; never what was forged.
        expect(attacker.value === 'own' || attacker.value === undefined).toBe(true)
        if (attacker.value === undefined) expect(attacker.explanation).toMatch(/\w+ \w+/)
        expect((await neighbour.ended).value).toBe('neighbour')
        expect((await under!.replica.run('return 2', { spec })).value).toBe(2)
      })

      test('closing the channel hurts no other run', async () => {
        const neighbour = under!.replica.hand(waits, { spec: { ...spec, team: 'others', processId: 'p-2' } })
        const attacker = await under!.replica.run(closes, { spec, run: { timeoutMs: 3000 } })
        expect(attacker.explanation).toMatch(/\w+ \w+/)
        expect((await neighbour.ended).value).toBe('neighbour')
        expect((await under!.replica.run('return 3', { spec })).value).toBe(3)
      })
    })
  })
}
