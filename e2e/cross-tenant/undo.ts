import type { Answer, Client } from '../client/client.ts'
import type { Operation } from '../client/document.ts'
import { textOf } from './request.ts'
import type { Values } from './request.ts'

/** Removes what a request of a client made, by the answer to it. What is below something else goes with that. */
export async function undo({ method, path }: Operation, given: Values, answer: Answer, by: Client): Promise<void> {
  const list = path.replace(/^.*\/rest/, '')
  const { status, body } = answer
  if (method !== 'POST' || status >= 300) return
  const id = typeof body === 'object' && body !== null && 'id' in body ? String(body.id) : ''
  if (/^\/(processes|modules|variables)$/.test(list)) await by.delete(`${list}/${id}`)
  if (list === '/sandboxes') await by.post(`${list}/${id}/kill`)
  if (list === '/storage/objects')
    for (const [{ place }, name] of given)
      if (place === 'query') await by.delete(`${list}/${encodeURIComponent(textOf(name))}`)
}
