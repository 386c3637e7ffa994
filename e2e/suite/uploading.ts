import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import type { StorageObject, StorageUpload, StorageUploadPart } from '../client/records.ts'
import { client } from './shared-system.ts'

export const MiB = 2 ** 20
export const bytesType = { 'content-type': 'application/octet-stream' }
export const digest = (bytes: Buffer, form: 'base64' | 'hex') => createHash('md5').update(bytes).digest(form)

export async function begin(name: string, more: object = {}, by = client): Promise<StorageUpload> {
  const made = await by.post<StorageUpload>('/storage/uploads', { name, ...more })
  expect(made.status, made.text).toBe(201)
  return made.body
}
export const put = (
  id: string,
  number: number | string,
  body: BodyInit,
  headers: Record<string, string> = {},
  by = client,
) =>
  by.call<StorageUploadPart>('PUT', `/storage/uploads/${id}/parts/${number}`, {
    body,
    headers: { ...bytesType, ...headers },
  })
export const read = async (id: string, by = client) => (await by.get<StorageUpload>(`/storage/uploads/${id}`)).body
export const complete = (id: string, by = client) => by.post<StorageObject>(`/storage/uploads/${id}/complete`)
export const content = async (name: string, by = client) => {
  const answer = await fetch(`${by.rest}/storage/objects/${name}`, {
    headers: { authorization: `Bearer ${by.address.accessToken}` },
  })
  return Buffer.from(await answer.arrayBuffer())
}

/** What a client does after a cut: it asks what is there, and sends the rest. */
export async function goOn(id: string, parts: Buffer<ArrayBuffer>[], by = client): Promise<void> {
  const kept = new Map((await read(id, by)).parts?.map(({ number, etag }) => [number, etag]))
  for (const [index, bytes] of parts.entries())
    if (kept.get(index + 1) !== digest(bytes, 'hex'))
      expect((await put(id, index + 1, bytes, { 'content-md5': digest(bytes, 'base64') }, by)).status).toBe(200)
}
