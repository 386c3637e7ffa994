import { expect, test } from 'vitest'
import { typedSince } from '../src/rules/drafts.ts'
import { afterSave, typedTeam } from '../src/rules/team-form.ts'

test('what was typed while a save was under way stays, and what was saved goes', () => {
  const sent = { name: 'a', tags: ['x'] }
  expect(typedSince({ name: 'a', tags: ['x'] }, sent)).toEqual({})
  expect(typedSince({ name: 'ab', tags: ['x'], slug: 's' }, sent)).toEqual({ name: 'ab', slug: 's' })
})

test('a saved team shows what the service made of it, beside what was typed meanwhile', () => {
  const saved: Parameters<typeof typedTeam>[0] = {
    ...({} as Parameters<typeof typedTeam>[0]),
    name: 'Team',
    zoneId: 'UTC',
    parentTeamSlugs: ['a', 'b'],
    allowedAddresses: [],
    paramsSchemaValidationEnabled: false,
  }
  const sent = { ...typedTeam(saved), parents: 'a b' }
  const now = { ...sent, name: 'Team 2' }
  expect(afterSave(now, sent, saved)).toEqual({ ...typedTeam(saved), name: 'Team 2' })
})
