import { isUtf8 } from 'node:buffer'
import { openAsBlob } from 'node:fs'
import { basename } from 'node:path'
import type { SendWebhookInput } from '@automation/client'
import { Option, type Command } from 'commander'
import { readBody } from '../options/parameters.ts'
import { readHeaders, repeated } from '../options/repeated.ts'
import { examples } from '../output/examples.ts'
import { all } from '../project/read-team.ts'
import { exitCodes, ExitError, usageError, type Runtime } from '../runtime.ts'
import { showRun } from '../runs/show-run.ts'
import { signatureHeaders, signatureSchemes, type SignatureScheme } from '../webhooks/signature.ts'

interface SendOptions {
  data?: string
  form?: string[]
  header?: string[]
  tag?: string
  async?: boolean
  signWith?: string
  scheme: SignatureScheme
  signatureHeader?: string
}

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
      .action(send),
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

  async function send(slug: string, options: SendOptions): Promise<void> {
    if (options.data !== undefined && options.form !== undefined) throw usageError('Give -d or -F, not both.')
    const { form, data } = options
    const body = form === undefined ? await readBody(runtime, data) : await readForm(form)
    const type: Record<string, string> = Buffer.isBuffer(body) ? { 'content-type': typeOf(body) } : {}
    const headers = { ...type, ...readHeaders(options.header) }
    const secret = options.signWith === undefined ? undefined : runtime.env[options.signWith]
    if (options.signWith !== undefined && secret === undefined) return sendSigned(slug, options, headers, body)
    const signature = secret === undefined ? {} : signed(options, secret, body)
    const client = await runtime.client()
    // The prefix of the service's own headers is the operator's choice.
    const tag =
      options.tag === undefined ? {} : { [`${(await client.team.limits()).headerPrefix}Version-Tag`]: options.tag }
    const call = { body, headers: { ...headers, ...signature, ...tag } }
    if (options.async) {
      const { id: executionId } = await client.webhooks.start(slug, call)
      return out.data({ executionId }, { text: executionId })
    }
    const response = await client.webhooks.call(slug, call)
    show(slug, response.status, Object.fromEntries(response.headers), await response.text())
  }

  /** The service signs with a variable of the team, and sends. */
  async function sendSigned(
    slug: string,
    options: SendOptions,
    headers: Record<string, string>,
    body: Buffer | FormData | undefined,
  ): Promise<void> {
    if (body instanceof FormData) throw usageError('Forms are signed with a secret of the environment alone.')
    if (options.async || options.tag)
      throw usageError(`The environment has no variable ${options.signWith}; --async and --tag need the secret there.`)
    const { signWith: variable = '', scheme, signatureHeader: header } = options
    const client = await runtime.client()
    const isBase64 = body !== undefined && !isUtf8(body)
    const input: SendWebhookInput = {
      method: 'POST',
      headers,
      ...{ body: body?.toString(isBase64 ? 'base64' : 'utf8') ?? '', isBase64 },
      signWith: { variable, scheme, ...(header && { header }) },
    }
    const { response } = await client.webhooks.send(slug, input)
    show(
      slug,
      response.status,
      response.headers,
      response.isBase64 ? Buffer.from(response.body, 'base64').toString() : response.body,
    )
  }

  function signed(
    { scheme, signatureHeader }: SendOptions,
    secret: string,
    body?: Buffer | FormData,
  ): Record<string, string> {
    if (body instanceof FormData) throw usageError('A form has no text that could be signed: give the body by -d.')
    return signatureHeaders(scheme, secret, body ?? '', {
      nowMs: Date.now(),
      header: signatureHeader,
    })
  }

  function show(slug: string, status: number, headers: Record<string, string | string[]>, body: string): void {
    if (out.json) out.data({ status, headers, body })
    else {
      out.say(out.style('dim', `HTTP ${status}`, 'stderr'))
      if (body !== '') out.data(body)
    }
    if (status >= 400)
      throw new ExitError(
        exitCodes.refused,
        status === 404 && body.includes('"webhook_not_found"')
          ? `No webhook answers at ${slug}: there is no such process, or its webhook is not enabled. See: pas webhooks url ${slug}`
          : `The webhook answered ${status}. Why: pas webhooks deliveries ${slug}`,
      )
  }

  async function replay(id: string, { tag, watch }: { tag?: string; watch?: boolean }): Promise<void> {
    const client = await runtime.client()
    const { id: executionId } = await client.executions.replay(id, tag === undefined ? {} : { tag })
    if (watch) await showRun(runtime, client, executionId)
    else out.data({ executionId }, { text: executionId })
  }
}

async function readForm(fields: readonly string[]): Promise<FormData> {
  const form = new FormData()
  for (const field of fields) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(field) ?? []
    if (name === undefined || value === undefined)
      throw usageError(`A field is NAME=VALUE or NAME=@FILE, and "${field}" is neither.`)
    if (!value.startsWith('@')) form.append(name, value)
    else
      form.append(
        name,
        await openAsBlob(value.slice(1)).catch((error: Error) => {
          throw usageError(`${value.slice(1)} can't be read: ${error.message}`)
        }),
        basename(value.slice(1)),
      )
  }
  return form
}

/** The media type of a body for which no header names one. */
function typeOf(body: Buffer): string {
  if (!isUtf8(body)) return 'application/octet-stream'
  try {
    JSON.parse(body.toString())
    return 'application/json'
  } catch {
    return 'text/plain'
  }
}
