import type { Client, Answer } from '../client/client.ts'
import type { Belongings, Kind } from './belongings.ts'

/** Everything that a team can read of its belongings, to be compared with what it reads later. */
export async function lookAt({ client, names }: Belongings): Promise<Record<string, string>> {
  const first = async (kind: Kind) => (await names[kind]())[0] ?? ''
  const process = `/processes/${await first('process')}`
  const module = `/modules/${await first('module')}`
  const execution = `/executions/${await first('execution')}`
  const running = `/executions/${await first('runningExecution')}`
  const object = await first('object')
  const paths = [
    process,
    `${process}/versions`,
    `${process}/versions/${await first('version')}`,
    `${process}/aliases`,
    `${process}/aliases/${await first('alias')}`,
    `/executions?processId=${await first('process')}`,
    execution,
    `${execution}/logs`,
    running,
    `${running}/logs`,
    module,
    `${module}/versions`,
    `${module}/aliases`,
    `/schedules?processId=${await first('process')}`,
    `/schedules/${await first('schedule')}`,
    `/schedules/${await first('pausedSchedule')}`,
    `/sandboxes/${await first('sandbox')}`,
    `/storage/objects?prefix=${object}`,
    `/storage/objects/${object}`,
    `/storage/uploads/${await first('upload')}`,
    '/dependencies/JAVASCRIPT',
    '/dependencies/PYTHON',
  ]
  const texts = await Promise.all(paths.map(async (path) => [path, (await client.get(path)).text] as const))
  return {
    ...Object.fromEntries(texts),
    variable: await ofList(client, '/variables', await first('variable')),
    serviceAccount: await ofList(client, '/auth/service-accounts', await first('serviceAccount')),
  }
}

/** One of a list that others change as well. */
async function ofList(client: Client, path: string, id: string): Promise<string> {
  const { data } = (await client.get<{ data: { id: string; lastUsedAt?: string }[] }>(path, { limit: 1000 })).body
  const found = data.find((one) => one.id === id)
  // When a token was last used is another time with each look.
  return JSON.stringify({ ...found, lastUsedAt: undefined })
}

/** Headers that differ between two answers to the same request. */
const passing: ReadonlySet<string> = new Set(['date', 'x-request-id', 'content-length'])

/**
 * What an answer says, without what differs between two answers that say the same: the word that was asked for, ids,
 * entity tags, numbers of edits, digests and secrets that were made for it, times.
 */
export function essenceOf({ status, headers, text }: Answer, asked: string): object {
  const whole = [asked, encodeURIComponent(asked)].map((word) => RegExp.escape(word)).join('|')
  const plainly = (words: string) =>
    words
      .replaceAll(new RegExp(`(?<![\\w-])(${whole})(?![\\w-])`, 'g'), '<asked>')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/\bnew[0-9a-f]{12}\b/g, '<new>')
      .replaceAll(/^"[\w-]{22}"$/g, '<tag>')
      .replaceAll(/"revision":\d+/g, '"revision":"<number>"')
      .replaceAll(/"sourceDigest":"[0-9a-f]{64}"/g, '"sourceDigest":"<digest>"')
      .replaceAll(/,"previous(States|VersionIds)":\[[^\]]*\]/g, '')
      .replaceAll(/"(grpcApiKey|access_token|clientId|clientSecret|apiToken)":"[^"]*"/g, '"$1":"<secret>"')
  const lasting = [...headers].filter(([name]) => !passing.has(name)).map(([name, value]) => [name, plainly(value)])
  return { status, headers: Object.fromEntries(lasting), text: plainly(text) }
}
