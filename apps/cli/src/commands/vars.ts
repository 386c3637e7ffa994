import { text as textOf } from 'node:stream/consumers'
import { parseEnv } from 'node:util'
import type { Client, ListedTeamVariable as Variable } from '@automation/client'
import type { Command } from 'commander'
import { doEach } from '../do-each.ts'
import { readText } from '../options/parameters.ts'
import { examples } from '../output/examples.ts'
import { ExitError, exitCodes, requireYes, usageError, type Runtime } from '../runtime.ts'

/** `pas vars`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const vars = program
    .command('vars')
    .description('The variables of the team, which runs find in svc.env. Values of sensitive ones are never shown.')
  examples(vars, 'pas vars list', 'pas vars set API_KEY --sensitive')

  examples(
    vars.command('list').description('List variables, with the values of those that are not sensitive.').action(list),
    'pas vars list --json',
  )
  examples(
    vars
      .command('get')
      .argument('<key>')
      .description('Print the value of a variable that is not sensitive.')
      .action(get),
    'pas vars get SHOP_URL',
  )
  examples(
    vars
      .command('set')
      .argument('<key>')
      .argument('[value]', 'for what is no secret; arguments can be read by others on this machine')
      .description(
        'Make or change a variable. Without a value it is asked for, or read from stdin. A sensitive one stays so.',
      )
      .option('--sensitive', 'encrypted, never shown again, masked in logs')
      .option('--from-env <name>', 'take the value from this environment variable')
      .action(set),
    'pas vars set SHOP_URL https://shop.example',
    'pas vars set API_KEY --sensitive < key.txt',
    'pas vars set API_KEY --sensitive --from-env MY_KEY',
  )
  examples(
    vars.command('unset').argument('<key...>').description('Delete variables for good.').action(unset),
    'pas vars unset SHOP_URL',
  )
  examples(
    vars
      .command('import')
      .argument('<file>', 'lines NAME=VALUE as in .env, - for stdin')
      .description('Make or change the variables of a file, as sensitive ones unless --plain is given.')
      .option('--plain', 'they are no secrets')
      .action(importFile),
    'pas vars import .env',
    'pas vars import settings.env --plain',
  )

  async function list(): Promise<void> {
    const all = await (await runtime.client()).variables.list().toArray()
    const shown = all.map(({ value, ...one }) => (one.isSensitive ? one : { ...one, value }))
    out.data(shown as Variable[], {
      table: [
        { title: 'key', of: ({ key }) => key },
        { title: 'value', of: ({ isSensitive, value }) => (isSensitive ? '(sensitive)' : value) },
        { title: 'updated', of: ({ updatedAt, createdAt }) => updatedAt ?? createdAt },
      ],
      empty: 'There are no variables.',
    })
  }

  async function get(key: string): Promise<void> {
    const { variables } = await runtime.client()
    const known = (await variables.list().toArray()).find((one) => one.key === key)
    if (known === undefined) throw absent([key])
    if (known.isSensitive)
      throw new ExitError(exitCodes.refused, `${key} is sensitive: its value is seen by runs alone.`)
    const variable = await variables.get(known.id)
    out.data(variable, { text: variable.value })
  }

  async function set(
    key: string,
    value: string | undefined,
    options: { sensitive?: boolean; fromEnv?: string },
  ): Promise<void> {
    if (value !== undefined && options.sensitive)
      throw usageError(
        `A sensitive value is no argument, which others could read: pas vars set ${key} --sensitive < FILE`,
      )
    if (value !== undefined && options.fromEnv !== undefined) throw usageError('Give a value or --from-env, not both.')
    const client = await runtime.client()
    const known = (await client.variables.list().toArray()).find((one) => one.key === key)
    if (value !== undefined && known?.isSensitive)
      throw usageError(
        `${key} is sensitive, and its value is no argument, which others could read: pas vars set ${key} < FILE`,
      )
    const text = value ?? (await secretValue(key, options.fromEnv))
    await write(client, known, { key, value: text, isSensitive: options.sensitive ?? known?.isSensitive ?? false })
    out.done(
      { key, created: known === undefined },
      `${key} is ${known === undefined ? 'made' : 'changed'}. Runs that start from now on see it.`,
    )
  }

  async function secretValue(key: string, name: string | undefined): Promise<string> {
    if (name !== undefined) {
      const value = runtime.env[name]
      if (value === undefined) throw usageError(`The environment has no variable ${name}.`)
      return value
    }
    if (runtime.isTerminal) return runtime.askSecret(`Value of ${key}`, '')
    if (runtime.stdin.isTTY) throw usageError(`Give the value by stdin: pas vars set ${key} < FILE`)
    // The last line of a file ends with a newline that is no part of the value.
    const value = (await textOf(runtime.stdin)).replace(/\r?\n$/, '')
    if (value === '') throw usageError(`stdin is empty. Give the value by it: pas vars set ${key} < FILE`)
    return value
  }

  async function unset(keys: string[]): Promise<void> {
    const client = await runtime.client()
    const all = await client.variables.list().toArray()
    const missing = keys.filter((key) => !all.some((one) => one.key === key))
    if (missing.length > 0) throw absent(missing)
    await requireYes(runtime, `Delete ${keys.join(', ')} for good?`, 'Nothing was deleted.')
    const wanted = all.filter(({ key }) => keys.includes(key))
    await doEach(runtime, wanted, {
      nameOf: ({ key }) => key,
      work: ({ id }) => client.variables.delete(id),
      rowOf: ({ key }, deleted) => ({ key, deleted }),
      wordsOf: (deleted) => `${deleted.join(', ')} ${deleted.length === 1 ? 'is' : 'are'} deleted.`,
    })
  }

  async function importFile(file: string, { plain }: { plain?: boolean }): Promise<void> {
    const values = Object.entries(parseEnv(await readText(runtime, file))) as [string, string][]
    if (values.length === 0) throw usageError(`${file} has no lines NAME=VALUE.`)
    out.goesOnUnread = true
    const client = await runtime.client()
    const known = new Map((await client.variables.list().toArray()).map((one) => [one.key, one]))
    const failed: { path: string; message: string }[] = []
    for (const [key, value] of values)
      await write(client, known.get(key), { key, value, isSensitive: !plain }).catch((error: Error) => {
        failed.push({ path: key, message: error.message })
      })
    const done = values.filter(([key]) => !failed.some(({ path }) => path === key))
    out.done(
      done.map(([key]) => ({ key, created: !known.has(key) })),
      `${done.length} of ${values.length} variables are set.`,
    )
    if (failed.length > 0)
      throw new ExitError(exitCodes.refused, failed.map(({ path, message }) => `${path}: ${message}`).join('\n'), {
        errors: failed,
      })
  }
}

const absent = (keys: readonly string[]) =>
  new ExitError(exitCodes.refused, `There is no variable ${keys.join(', ')}. "pas vars list" shows them.`)

/** Makes or changes a variable. What is sensitive stays so: the service never shows it again. */
async function write(
  client: Client,
  known: Variable | undefined,
  { key, value, isSensitive }: { key: string; value: string; isSensitive: boolean },
): Promise<void> {
  if (known === undefined) await client.variables.create({ key, value, isSensitive })
  else {
    await client.variables.update(known.id, { value, ...(isSensitive && !known.isSensitive && { isSensitive: true }) })
  }
}
