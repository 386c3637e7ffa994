import { NotFoundError, type Problem } from '@automation/client'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandTable } from '../src/command-table.ts'
import { createRuntime } from '../src/create-runtime.ts'
import { readFailure } from '../src/failure.ts'
import { isTooOld } from '../src/is-too-old.ts'
import { createProgram, namedCommand } from '../src/program.ts'

const program = await createProgram(createRuntime(process, false))

function* commandsOf(command: Command, path: string): Generator<[path: string, command: Command]> {
  yield [path, command]
  for (const one of command.createHelp().visibleCommands(command))
    if (one.name() !== 'help') yield* commandsOf(one, `${path} ${one.name()}`)
}

function helpOf(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp()
  return text
}

describe('the program', () => {
  test.each([...commandsOf(program, 'pas')])('%s --help says what it does, with an example', (path, command) => {
    expect(command.description()).not.toBe('')
    expect(helpOf(command)).toMatch(new RegExp(`Examples?:\\n[^]*\\b${path}\\b`))
    for (const option of command.options) expect(option.description).not.toBe('')
  })

  test.each(commandTable)(
    '$name is loaded by itself, and is what the list of commands names',
    async ({ name, summary }) => {
      const alone = await createProgram(createRuntime(process, false), [name])
      const command = alone.commands.find((one) => one.name() === name)
      expect(command?.summary()).toBe(summary)
      expect(command?.description()).not.toBe('')
      expect(alone.commands.filter((one) => one.description() !== '').map((one) => one.name())).toContain(name)
    },
  )

  test.each([
    [['run', 'x'], 'run'],
    [['--json', '--team', 'logs', 'run'], 'run'],
    [['help', 'vars'], 'vars'],
    [['--help'], undefined],
  ])('the command of %j is %s', (args, name) => expect(namedCommand(args)).toBe(name))
})

test.each([
  ['20.20.2', true],
  ['22.11.0', true],
  ['22.12.0', false],
  ['26.10.0', false],
])('whether Node %s is too old: %s', (node, expected) => expect(isTooOld(node)).toBe(expected))

test.each([
  ['process_not_found', 'pas processes list'],
  ['execution_not_found', 'pas executions list'],
])('a refusal %s names the command that shows what there is', async (code, command) => {
  const error = new NotFoundError({
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    detail: 'Not found',
    code,
  } as Problem)
  expect((await readFailure(error, {})).message).toContain(command)
})

test('a question that is answered by no ends with 1', async () => {
  const runtime = { ...createRuntime(process, false), confirm: () => Promise.resolve(false) }
  const declined = (await createProgram(runtime, ['storage'])).parseAsync(['storage', 'rm', 'x'], { from: 'user' })
  await expect(declined).rejects.toMatchObject({ code: 1, message: 'Nothing was deleted.' })
})
