import { randomBytes } from 'node:crypto'
import { serviceContext, until, userContext } from '@automation/testing'
import { afterAll, expect, test } from 'vitest'
import { value } from './scripted-runner.ts'
import { System } from './system.ts'

const system = await System.start({ teamMaxDatabaseBytes: 60_000 })
await system.runner({ slots: 4, runs: () => value('x'.repeat(100)) })
afterAll(() => system.stop())

const databaseBytes = async (team: string) =>
  (await system.executions.getLimits({}, userContext(team))).limits.find(({ name }) => name === 'databaseBytes')
const startLarge = () => {
  const parameters = Buffer.from(JSON.stringify({ text: randomBytes(10_000).toString('base64') }))
  return system.start('demo', { identifier: 'large', parameters })
}

test('a team whose executions take all that they may begins nothing new, until some of them are removed', async () => {
  const processId = system.catalog.put('large')
  const ids = [await startLarge(), await startLarge(), await startLarge()]
  for (const id of ids) await system.ended(id, 'demo')
  await until(async () => Number((await databaseBytes('demo'))?.inUse) >= 40_000, { what: 'their bytes are counted' })
  expect(await databaseBytes('demo')).toMatchObject({ allowed: 60_000n })
  ids.push(await startLarge(), await startLarge())
  for (const id of ids.slice(3)) await system.ended(id, 'demo')
  const refused = () =>
    system.start('demo').then(
      () => undefined,
      ({ code }: { code: string }) => code,
    )
  await until(async () => (await refused()) === 'team_suspended', { what: 'a start is refused', everyMs: 250 })
  await system.start('other')

  await system.executions.deleteProcessExecutions({ team: 'demo', processId }, serviceContext('process-catalog'))
  await until(async () => (await refused()) === undefined, { what: 'a start goes on', everyMs: 250 })
})
