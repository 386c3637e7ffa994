import type { Command } from 'commander'
import { changeContexts, readContexts, type Contexts } from '../context/contexts.ts'
import { aloneWithCredentials, removeCredential } from '../context/credentials.ts'
import { elsewhere, usualTarget } from '../context/usual-target.ts'
import { examples } from '../output/examples.ts'
import { usageError, type Runtime } from '../runtime.ts'

/** `pas context`: names for an address with a team. */
export function register(program: Command, runtime: Runtime): void {
  const context = program
    .command('context')
    .description(
      'Contexts are names for an address with a team. "pas login" makes them; pas.yaml has those of a repository.',
    )
  examples(
    context.command('list').description('List the contexts. That of commands in this folder is marked.').action(list),
    'pas context list',
  )
  examples(
    context
      .command('use')
      .argument('<name>')
      .description('Choose the context of later commands, where pas.yaml has no other.')
      .action(use),
    'pas context use staging',
  )
  examples(
    context
      .command('remove')
      .argument('<name>')
      .description('Forget a context, with its token where no other one has it.')
      .action(remove),
    'pas context remove staging',
  )
  examples(context, 'pas context list', 'pas context use staging')

  async function list(): Promise<void> {
    const [stored, project, usual] = await Promise.all([
      readContexts(runtime.env),
      runtime.project(),
      usualTarget(runtime),
    ])
    const ofProject = project?.file.contexts ?? {}
    const of = (from: string, contexts: Record<string, { url: string; team: string }>) =>
      Object.entries(contexts).map(([name, { url, team }]) => ({
        name,
        url,
        team,
        from,
        current: name === usual?.context && contexts === (name in ofProject ? ofProject : stored.contexts),
      }))
    const all = [...of('pas.yaml', ofProject), ...of('login', stored.contexts)]
    runtime.out.data(all, {
      table: [
        { title: '', of: ({ current }) => (current ? '*' : ' ') },
        { title: 'name', of: ({ name }) => name },
        { title: 'url', of: ({ url }) => url },
        { title: 'team', of: ({ team }) => team },
        { title: 'from', of: ({ from }) => from },
      ],
      empty: 'There are no contexts. Make one: pas login URL --team TEAM',
    })
  }

  async function use(name: string): Promise<void> {
    const [stored, project] = await Promise.all([readContexts(runtime.env), runtime.project()])
    const found = project?.file.contexts?.[name] ?? stored.contexts[name]
    if (found === undefined) throw usageError(`There is no context "${name}". "pas context list" shows them.`)
    await changeContexts(runtime.env, (now) => ({ ...now, current: name }))
    const words = await elsewhere(runtime, name, found)
    runtime.out.done(
      { context: name, ...found, current: words === undefined },
      words === undefined
        ? `Commands are for the team ${found.team} at ${found.url} now.`
        : `${name} is the context of commands elsewhere now. ${words}`,
    )
  }

  async function remove(name: string): Promise<void> {
    const {
      contexts: { [name]: removed },
    } = await readContexts(runtime.env)
    if (removed === undefined) throw usageError(`There is no stored context "${name}". "pas context list" shows them.`)
    let others: Contexts['contexts'] = {}
    await changeContexts(runtime.env, ({ current, contexts }) => {
      others = { ...contexts }
      delete others[name]
      return { ...(current === name ? {} : { current }), contexts: others }
    })
    const sharing = Object.entries(others).find(
      ([, { url, team }]) => url === removed.url && team === removed.team,
    )?.[0]
    if (sharing === undefined) await aloneWithCredentials(runtime.env, () => removeCredential(runtime.env, removed))
    runtime.out.done(
      { context: name, removed: true },
      sharing === undefined
        ? `The context ${name} and its token are forgotten. The token itself lives on: revoke it by "pas tokens revoke".`
        : `The context ${name} is forgotten. Its token stays: it is that of ${sharing}, too.`,
    )
  }
}
