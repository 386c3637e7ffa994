import { beforeAll, expect, test } from 'vitest'
import { ownTeam, type OwnTeam } from './own-team.ts'
import { pushed, sourceOf, unique, Workspace } from './workspace.ts'

let system: OwnTeam
beforeAll(async () => {
  system = await ownTeam('numbers')
  return system.leave
}, 150_000)

/** The text of an answer, whose numbers are as the server has them. */
async function textOf(path: string): Promise<string> {
  return (await system.client.open('GET', path)).text()
}

const schema = (most: string) => `{ "type": "object", "properties": { "channel": { "maximum": ${most} } } }\n`

test('numbers beyond those of JavaScript are pushed and pulled with all their digits', async () => {
  const slug = unique('digits')
  await using workspace = await pushed(system, slug)
  await workspace.write(sourceOf(slug, 'parameters.schema.json'), schema('9223372036854775807'))
  await workspace.write(
    sourceOf(slug, 'process.yaml'),
    'schedules:\n  daily:\n    cron: 0 8 * * *\n    parameters: { channel: 1234567890123456789, n: 1, share: 0.12345678901234567891 }\n',
  )
  await workspace.commit()
  expect(await workspace.pas('push', '--yes')).toMatchObject({ code: 0 })
  const { id } = await system.client.processes.get(slug)
  const { data } = await system.client.schedules.list({ processId: id }).page()
  const ofSchedule = `/schedules/${data[0]!.id}`
  expect(await textOf(`/processes/${slug}`)).toContain('9223372036854775807')
  expect(await textOf(ofSchedule)).toContain('1234567890123456789')
  expect(await textOf(ofSchedule)).toContain('"share":0.12345678901234567891')
  // A change by others of a member beside it, and of the number alone.
  const body = { cron: '0 9 * * *', input: { parameters: { channel: 5, n: 2, share: 6 }, comment: 'daily' } }
  const digits = { '"channel":5': '"channel":1234567890123456788', '"share":6': '"share":0.12345678901234567892' }
  const given = JSON.stringify(body).replaceAll(/"\w+":[56]/g, (member) => digits[member as keyof typeof digits])
  const headers = { 'content-type': 'application/json' }
  await system.client.open('PATCH', ofSchedule, { rawBody: given, headers })
  const another = JSON.stringify({ parametersSchema: 0 }).replace(':0', `:${schema('9223372036854775806')}`)
  await system.client.open('PATCH', `/processes/${slug}`, { rawBody: another, headers })
  expect(await workspace.pas('pull')).toMatchObject({ code: 0, stderr: '' })
  expect(await workspace.read(sourceOf(slug, 'parameters.schema.json'))).toContain('"maximum": 9223372036854775806')
  expect(await workspace.read(sourceOf(slug, 'process.yaml'))).toContain(
    '{ channel: 1234567890123456788, n: 2, share: 0.12345678901234567892 }',
  )
  expect(await workspace.pas('plan', '--check')).toMatchObject({ code: 0 })
  // A folder of nobody's has them as the server has.
  await using other = await Workspace.make(system)
  expect(await other.pas('pull')).toMatchObject({ code: 0 })
  expect(await other.read(sourceOf(slug, 'process.yaml'))).toContain('channel: 1234567890123456788')
  expect(await other.read(sourceOf(slug, 'process.yaml'))).toContain('share: 0.12345678901234567892')
  expect(await other.pas('plan', '--check')).toMatchObject({ code: 0 })
})
