import { Option, type Command } from 'commander'
import { repeated } from '../options/repeated.ts'
import { examples } from '../output/examples.ts'
import { all } from '../project/read-team.ts'
import type { Runtime } from '../runtime.ts'
import { showRun } from '../runs/show-run.ts'
import { sendWebhook, type SendOptions } from '../webhooks/send.ts'
import { signatureSchemes } from '../webhooks/signature.ts'

/** `pas webhooks`. */
export function register(program: Command, runtime: Runtime): void {
  const { out } = runtime
  const webhooks = program.command('webhooks').description('Webhooks with their addresses, and requests to them.')
  examples(webhooks, 'pas webhooks url greeting', `pas webhooks send greeting -d '{"name": "Ada"}'`)

  examples(
    webhooks.command('list').description('List the webhooks that are enabled, with their addresses.').action(list),
    'pas webhooks list',
  )
  examples(
    webhooks
      .command('deliveries')
      .argument('<slug>')
      .description('List the last 100 calls of a webhook, newest first; refused ones with the reason.')
      .action(deliveries),
    'pas webhooks deliveries greeting',
  )
  examples(
    webhooks
      .command('url')
      .argument('<slug>')
      .description('Print the address of the webhook of a process.')
      .action(url),
    'pas webhooks url greeting',
    'curl "$(pas webhooks url greeting)?name=Ada"',
  )
  examples(
    webhooks
      .command('send')
      .argument('<slug>')
      .description(
        `Call a webhook as its sender would. The answer's body goes to stdout; ends with 1 for a status of 400 or more.

--sign-with names an environment variable with the secret, or else a variable of the team: the service signs then, and the secret stays there.`,
      )
      .option('-d, --data <body>', 'the body, @FILE for that of a file, @- for stdin')
      .option('-F, --form <name=value>', 'a field of a form; NAME=@FILE sends a file', repeated)
      .option('-H, --header <name: value>', 'a header of the request', repeated)
      .option('--tag <tag>', 'the version to run: its tag, its id or an alias')
      .option('--sign-with <name>', 'sign the body with the secret in this variable')
      .addOption(new Option('--scheme <scheme>', 'how to sign').choices(signatureSchemes).default('github'))
      .option('--signature-header <name>', 'where the signature goes, for --scheme hmac')
      .option('--async', 'do not wait: print the id of the run')
      .action((slug: string, options: SendOptions) => sendWebhook(runtime, slug, options)),
    `pas webhooks send greeting -d '{"name": "Ada"}'`,
    'pas webhooks send upload -F title=Report -F file=@report.pdf',
    'pas webhooks send on-push -d @push.json -H "X-GitHub-Event: push" --sign-with GITHUB_SECRET',
  )
  examples(
    webhooks
      .command('replay')
      .argument('<id>', 'a run that a webhook started')
      .description('Start the run of a webhook again, with the same request, on any version.')
      .option('--tag <tag>', 'another version: its tag, its id or an alias')
      .option('-w, --watch', 'show its log and wait for its end')
      .action(replay),
    'pas webhooks replay 0198c2b0-9a4c-7d2e-b1f3-5c8e7a6d9b04 --tag live --watch',
  )

  async function list(): Promise<void> {
    const client = await runtime.client()
    const enabled = (await all(client.processes.list())).filter(({ webhook }) => webhook.enabled)
    const rows = enabled.map(({ slug, webhook }) => ({ ...webhook, process: slug, url: client.webhooks.url(slug) }))
    out.data(rows, {
      table: [
        { title: 'process', of: ({ process }) => process },
        { title: 'user', of: ({ username }) => username },
        { title: 'addresses', of: ({ allowedAddresses = [] }) => allowedAddresses.join(',') || undefined },
        { title: 'url', of: ({ url: address }) => address },
      ],
      empty: 'No webhook is enabled.',
    })
  }

  async function deliveries(slug: string): Promise<void> {
    const client = await runtime.client()
    out.data(await client.webhooks.deliveries(slug), {
      table: [
        { title: 'time', of: ({ at }) => at },
        { title: 'status', of: ({ status }) => status },
        { title: 'method', of: ({ method }) => method },
        { title: 'bytes', of: ({ size }) => size },
        { title: 'execution', of: ({ executionId }) => executionId },
        { title: 'reason', of: ({ reason }) => reason },
      ],
      empty: 'Nobody has called it.',
    })
  }

  async function url(slug: string): Promise<void> {
    const client = await runtime.client()
    const { slug: known, webhook } = await client.processes.get(slug)
    const address = client.webhooks.url(known)
    out.data({ url: address, enabled: webhook.enabled }, { text: address })
    if (!webhook.enabled && !out.json) out.say('This webhook is not enabled: calls to it are answered with 404.')
  }

  async function replay(id: string, { tag, watch }: { tag?: string; watch?: boolean }): Promise<void> {
    const client = await runtime.client()
    const { id: executionId } = await client.executions.replay(id, tag === undefined ? {} : { tag })
    if (watch) await showRun(runtime, client, executionId)
    else out.data({ executionId }, { text: executionId })
  }
}
