import { Failure } from '@automation/errors'
import { CredentialsGate, type CheckTarget } from '@automation/passwords'
import bcrypt from 'bcryptjs'
import { afterAll, expect, test } from 'vitest'

const gate = new CredentialsGate(() => new Failure('unauthenticated', 'wrong', 'Wrong'))
afterAll(() => gate.close())

const wanted = { username: 'u', passwordHash: bcrypt.hashSync('right', 4) }
let addresses = 0

/** `right` or the code of its failure; each comes from an address of its own. */
async function attempt(target: CheckTarget, password: string): Promise<string> {
  const given = { username: 'u', password }
  return gate.check(target, wanted, given, `address ${addresses++}`).then(
    () => 'right',
    (failure: Failure) => failure.code,
  )
}

const guesses = (target: CheckTarget, count: number) =>
  Array.from({ length: count }, (_, at) => attempt(target, `guess ${at}`))

test('of one target four passwords are checked at the same time, and others need not wait for it', async () => {
  const [codes, other] = await Promise.all([Promise.all(guesses({ id: 'one' }, 10)), attempt({ id: 'two' }, 'right')])
  expect(codes).toEqual([...Array(4).fill('wrong'), ...Array(6).fill('too_many_attempts')])
  expect(other).toBe('right')
  expect(await attempt({ id: 'one' }, 'right')).toBe('right')
})

test('of one team sixteen are', async () => {
  const asked = Array.from({ length: 6 }, (_, at) => guesses({ id: `target ${at}`, team: 'demo' }, 4)).flat()
  const other = attempt({ id: 'theirs', team: 'other' }, 'right')
  const codes = await Promise.all(asked)
  expect(codes.filter((code) => code === 'wrong')).toHaveLength(16)
  expect(codes.filter((code) => code === 'too_many_attempts')).toHaveLength(8)
  expect(await other).toBe('right')
})

test('the same password from many addresses is one check', async () => {
  const target = { id: 'known to many', team: 'demo' }
  const codes = await Promise.all(Array.from({ length: 50 }, () => attempt(target, 'right')))
  expect(new Set(codes)).toEqual(new Set(['right']))
})
