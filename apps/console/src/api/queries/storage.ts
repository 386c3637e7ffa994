import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { apiOf, baseOf, call, dataOf, type Schemas } from '../client.ts'
import { formerAnswerFor } from '../former-answer.ts'

export type StoredObject = Schemas['StorageObject']
export type StorageEntry = StoredObject | Schemas['StorageFolder']

const PAGE = 200
/** So much of a text is shown. */
export const PREVIEW_BYTES = 1_048_576

export const isFolder = (entry: StorageEntry): entry is Schemas['StorageFolder'] => 'prefix' in entry
const placeOf = (entry: StorageEntry) => (isFolder(entry) ? entry.prefix : entry.name)

/** The address of an object, which downloads it. */
export function objectAddress(team: string, name: string): string {
  return `${baseOf(team)}/storage/objects/${name.split('/').map(encodeURIComponent).join('/')}`
}

/** What is in a folder, name by name, in pages that follow each other. */
export function useFolder(team: string, prefix: string) {
  return useInfiniteQuery({
    queryKey: [team, 'storage', 'folder', prefix],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      dataOf(
        apiOf(team).GET('/storage/objects', {
          params: { query: { prefix: prefix || undefined, delimiter: '/', limit: PAGE, after: pageParam } },
        }),
      ) as Promise<StorageEntry[]>,
    getNextPageParam: (entries) => {
      const last = entries.at(-1)
      return entries.length < PAGE || last === undefined ? undefined : placeOf(last)
    },
  })
}

/** What the service knows of an object, `null` where there is none of this very name. */
export async function objectNamed(team: string, name: string): Promise<StoredObject | null> {
  // Of the names that begin so it is the first.
  const query = { prefix: name, limit: 1 }
  const [first] = await dataOf(apiOf(team).GET('/storage/objects', { params: { query } }))
  return first !== undefined && !isFolder(first) && first.name === name ? first : null
}

export const useObject = (team: string, name: string, isWanted: boolean) =>
  useQuery({
    queryKey: [team, 'storage', 'object', name],
    queryFn: () => objectNamed(team, name),
    enabled: isWanted,
  })

export function useStorageUsage(team: string) {
  return useQuery({
    queryKey: [team, 'storage', 'usage'],
    queryFn: () => dataOf(apiOf(team).GET('/storage/usage')),
  })
}

/** Uploads in parts that wait for their rest, of all who use the team. */
export function useOpenUploads(team: string) {
  return useQuery({
    queryKey: [team, 'storage', 'uploads'],
    queryFn: () => dataOf(apiOf(team).GET('/storage/uploads')),
  })
}

export function useDiscardUpload(team: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => apiOf(team).DELETE('/storage/uploads/{id}', { params: { path: { id } } }),
    onSettled: () => queries.invalidateQueries({ queryKey: [team, 'storage'] }),
  })
}

export function useDeleteObject(team: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (name: string) => call(objectAddress(team, name), { method: 'DELETE' }),
    onSettled: () => queries.invalidateQueries({ queryKey: [team, 'storage'] }),
  })
}

export function useSignedLink(team: string) {
  return useMutation({
    mutationFn: (body: { path: string; expiresInSeconds: number }) =>
      dataOf(apiOf(team).POST('/storage/signed-urls', { body })),
  })
}

export type Preview =
  | { kind: 'text'; text: string; isCut: boolean }
  | { kind: 'image'; blob: Blob }
  | { kind: 'none'; why: string }

const images = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif', 'image/svg+xml'])
const IMAGE_BYTES = 10_485_760

/** A look into an object: the beginning of a text, or an image. */
export function usePreview(team: string, object: StoredObject) {
  return useQuery({
    queryKey: [team, 'storage', 'preview', object.name, object.md5Hash],
    gcTime: 0,
    queryFn: async (): Promise<Preview> => {
      const { name, size, contentType } = object
      const address = objectAddress(team, name)
      const type = contentType.split(';', 1)[0] ?? ''
      if (images.has(type)) {
        if (size > IMAGE_BYTES) return { kind: 'none', why: 'The image is too large to be shown here.' }
        const bytes = await (await call(address)).arrayBuffer()
        return { kind: 'image', blob: new Blob([bytes], { type }) }
      }
      if (size === 0) return { kind: 'none', why: 'It is empty.' }
      const headers = { Range: `bytes=0-${PREVIEW_BYTES - 1}` }
      const text = textOf(await (await call(address, { headers })).arrayBuffer())
      if (text === undefined) return { kind: 'none', why: 'It is neither text nor an image that a browser shows.' }
      return { kind: 'text', text, isCut: size > PREVIEW_BYTES }
    },
  })
}

/** Bytes as text, a character that is cut at their end left out; undefined where they are none. */
function textOf(bytes: ArrayBuffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return text.includes('\0') ? undefined : text
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

export function useDatastore(team: string, prefix: string, page: number) {
  return useQuery({
    queryKey: [team, 'datastore', prefix, page],
    queryFn: () =>
      dataOf(apiOf(team).GET('/datastore', { params: { query: { prefix: prefix || undefined, page, limit: 100 } } })),
    placeholderData: formerAnswerFor(team),
  })
}
