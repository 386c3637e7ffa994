import { expect, test } from 'vitest'
import { StandIn } from './stand-in.ts'

/** Nothing is asked of the service. */
const offline = () => StandIn.that((_, response) => response.destroy())

test.each([
  [['--json']],
  [['storage', '--json']],
  [['nope', '--json']],
  [['help', 'nope', '--json']],
  [['--json', 'help', 'nope']],
  [['storage', 'help', 'nope', '--json']],
  [['storage', '--json', 'help', 'nope']],
  [['help', 'storage', 'nope', '--json']],
])('a command line that names no command is a fault that programs can read: %j', async (command) => {
  await using standIn = await offline()
  const { code, stdout, stderr } = await standIn.start(command).ended
  expect([code, stdout]).toEqual([2, ''])
  const { error } = JSON.parse(stderr) as { error: { code: string; message: string } }
  expect([error.code, error.message]).toEqual(['usage', expect.stringContaining('See: pas')])
  expect(error.message).toContain(command.includes('nope') ? "unknown command 'nope'" : 'A command is missing')
})

test('a command line without a command has the help of it, and an unknown command has none', async () => {
  await using standIn = await offline()
  const storage = await standIn.start(['storage']).ended
  expect([storage.code, storage.stderr]).toEqual([2, expect.stringContaining('Usage: pas storage')])
  const nope = await standIn.start(['help', 'nope']).ended
  expect([nope.code, nope.stderr]).toEqual([2, "error: unknown command 'nope'\nSee: pas --help\n"])
  const { code, stdout } = await standIn.start(['help', 'storage']).ended
  expect([code, stdout]).toEqual([0, expect.stringContaining('Usage: pas storage')])
  for (const words of [
    ['help', 'storage', 'cp'],
    ['storage', 'help', 'cp'],
    ['--team', 'help', 'help', 'storage', 'cp'],
  ])
    expect(await standIn.start(words).ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Usage: pas storage cp'),
    })
})
