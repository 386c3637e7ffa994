import type { Answer } from '../client/client.ts'

/** Headers that differ between two answers to the same request. */
const passing: ReadonlySet<string> = new Set(['date', 'x-request-id', 'content-length'])

/**
 * What an answer says, without what differs between two answers that say the same: the word that was asked for, ids
 * and secrets that were made for it, times.
 */
export function essenceOf({ status, headers, text }: Answer, asked: string): object {
  const whole = [asked, encodeURIComponent(asked)].map((word) => RegExp.escape(word)).join('|')
  const plainly = (words: string) =>
    words
      .replaceAll(new RegExp(`(?<![\\w-])(${whole})(?![\\w-])`, 'g'), '<asked>')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
      .replaceAll(/\bnew[0-9a-f]{12}\b/g, '<new>')
      .replaceAll(/"(grpcApiKey|access_token)":"[^"]*"/g, '"$1":"<secret>"')
  const lasting = [...headers].filter(([name]) => !passing.has(name)).map(([name, value]) => [name, plainly(value)])
  return { status, headers: Object.fromEntries(lasting), text: plainly(text) }
}
