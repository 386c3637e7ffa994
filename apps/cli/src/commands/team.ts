import { resolve } from 'node:path'
import type { Command } from 'commander'
import { examples } from '../output/examples.ts'
import { oneLine } from '../output/plain-text.ts'
import { recordText } from '../output/record.ts'
import { exportTeam } from '../project/export-team.ts'
import { checkImport, importTeam } from '../project/import-team.ts'
import { requireYes, type Runtime } from '../runtime.ts'

/** `pas team`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const team = program
    .command('team')
    .description(
      'Show the team and its settings. They are changed by "pas push" from pas.yaml, or by "pas api PATCH /team".',
    )
    .action(show)
  examples(team, 'pas team', 'pas team --json')
  examples(team.command('list').description('List the teams that the token is for.').action(list), 'pas team list')
  examples(
    team
      .command('export')
      .argument('<folder>', 'a folder that is not there yet')
      .description(
        `Write all that the team has as files: what "pas push" reads, and in team-data versions, aliases, stored files and names of service accounts. Needs the scope admin.

Secrets are not in it: it says what is to be set again. Values of the datastore come with an operator's export.`,
      )
      .option('--executions', 'also the records of executions')
      .option(
        '--without-own-account',
        'leave out the service account of the token, as one that was made for this alone',
      )
      .action(toFolder),
    'pas team export ./shop',
  )
  examples(
    team
      .command('import')
      .argument('<folder>', 'what export has written')
      .description(
        `Bring an exported team into this one. What is the same stays; cut off, do it again.

Secrets come from the environment variables that variables.yaml and process.yaml name; what lacks one is left out, and told. Service accounts get new API tokens.`,
      )
      .option(
        '--api-tokens <file>',
        'make the service accounts that are missing, and append their API tokens to this file',
      )
      .option('--check', 'only look whether the team has something else under a name of these, and write nothing')
      .action(fromFolder),
    'pas team import ./shop --team new-shop --yes',
    'pas team import ./shop --team new-shop --yes --api-tokens tokens.ndjson',
  )

  async function show(): Promise<void> {
    const data = await (await runtime.client()).team.get()
    out.data(data, { text: recordText(data) })
  }

  async function list(): Promise<void> {
    const client = await runtime.client()
    out.data(await client.team.list(), {
      table: [
        { title: 'team', of: ({ slug }) => slug },
        { title: 'name', of: ({ name }) => name },
        { title: 'time zone', of: ({ zoneId }) => zoneId },
      ],
    })
  }

  async function toFolder(
    folder: string,
    { executions = false, withoutOwnAccount = false }: { executions?: boolean; withoutOwnAccount?: boolean },
  ): Promise<void> {
    const path = resolve(runtime.cwd, folder)
    const wanted = { executions, ownAccount: !withoutOwnAccount, tell: out.say }
    const setAgain = await exportTeam(await runtime.client(), path, wanted)
    const lines = setAgain.map((each) => `\n  ${each}`).join('')
    out.data(
      { folder: path, setAgain },
      { text: `${path} has the team. To be set again where it is imported:${lines}` },
    )
  }

  async function fromFolder(
    folder: string,
    { apiTokens, check = false }: { apiTokens?: string; check?: boolean },
  ): Promise<void> {
    const { team: name, url } = await runtime.target()
    const path = resolve(runtime.cwd, folder)
    if (check) {
      await checkImport(runtime, path)
      out.done({ changes: 0 }, `The team ${name} can take it. Nothing was written.`)
      return
    }
    await requireYes(runtime, `Bring ${folder} into the team ${name} at ${url}?`, 'Nothing was written.')
    const tokensPath = apiTokens === undefined ? undefined : resolve(runtime.cwd, apiTokens)
    const imported = await importTeam(runtime, path, { tokensPath })
    const { changes, withoutSecret, withoutAccount, left } = imported
    const what = changes === 0 ? `The team ${name} has it all.` : `Written to the team ${name}: ${changes}.`
    const accountWords =
      apiTokens === undefined
        ? 'Service accounts that are not there; import again with --api-tokens FILE, or make them by "pas tokens create":'
        : 'Service accounts that could not be made; make them by "pas tokens create":'
    const lists: [words: string, each: string[]][] = [
      ['The environment has no secret for, so they are left out or off:', withoutSecret],
      [accountWords, withoutAccount],
      ['Not set:', left],
    ]
    const shown = lists.filter(([, each]) => each.length > 0).map((list) => list.flat().map(oneLine).join('\n  '))
    if (out.json) out.line({ type: 'end', ...imported })
    else out.data(imported, { text: [what, ...shown].join('\n') })
  }
}
