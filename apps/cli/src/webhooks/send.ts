import { isUtf8 } from 'node:buffer'
import { basename } from 'node:path'
import type { SendWebhookInput } from '@automation/client'
import { readBody } from '../options/parameters.ts'
import { readHeaders } from '../options/repeated.ts'
import { blobOf } from '../output/local-file.ts'
import { exitCodes, ExitError, usageError, type Runtime } from '../runtime.ts'
import { signatureHeaders, type SignatureScheme } from './signature.ts'

export interface SendOptions {
  data?: string
  form?: string[]
  header?: string[]
  tag?: string
  async?: boolean
  signWith?: string
  scheme: SignatureScheme
  signatureHeader?: string
}

/** Calls a webhook as its sender would, and shows the answer. */
export async function sendWebhook(runtime: Runtime, slug: string, options: SendOptions): Promise<void> {
  if (options.data !== undefined && options.form !== undefined) throw usageError('Give -d or -F, not both.')
  const { form, data } = options
  const body = form === undefined ? await readBody(runtime, data) : await readForm(form)
  const type: Record<string, string> = Buffer.isBuffer(body) ? { 'content-type': typeOf(body) } : {}
  const headers = { ...type, ...readHeaders(options.header) }
  const secret = options.signWith === undefined ? undefined : runtime.env[options.signWith]
  if (options.signWith !== undefined && secret === undefined) return sendSigned(runtime, slug, options, headers, body)
  const signature = secret === undefined ? {} : signed(options, secret, body)
  const client = await runtime.client()
  // The prefix of the service's own headers is the operator's choice.
  const tag =
    options.tag === undefined ? {} : { [`${(await client.team.limits()).headerPrefix}Version-Tag`]: options.tag }
  const call = { body, headers: { ...headers, ...signature, ...tag } }
  if (options.async) {
    const { id: executionId } = await client.webhooks.start(slug, call)
    return runtime.out.data({ executionId }, { text: executionId })
  }
  const response = await client.webhooks.call(slug, call)
  show(runtime, slug, response.status, Object.fromEntries(response.headers), await response.text())
}

/** The service signs with a variable of the team, and sends. */
async function sendSigned(
  runtime: Runtime,
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
    runtime,
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

function show(
  { out }: Runtime,
  slug: string,
  status: number,
  headers: Record<string, string | string[]>,
  body: string,
): void {
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

async function readForm(fields: readonly string[]): Promise<FormData> {
  const form = new FormData()
  for (const field of fields) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(field) ?? []
    if (name === undefined || value === undefined)
      throw usageError(`A field is NAME=VALUE or NAME=@FILE, and "${field}" is neither.`)
    if (!value.startsWith('@')) form.append(name, value)
    else form.append(name, await blobOf(value.slice(1)), basename(value.slice(1)))
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
