import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { baseOf, call, type Schemas } from '../client.ts'
import { send } from '../transfer.ts'

export type FileEntry = Schemas['SandboxFileEntry']

/** A file up to this size can be edited in the browser. */
export const EDITABLE_BYTES = 1_048_576

/** The address of a file or directory of a sandbox; `path` begins with a slash. */
export function fileAddress(team: string, sandboxId: string, path: string): string {
  const names = path.split('/').filter(Boolean).map(encodeURIComponent)
  return `${baseOf(team)}/sandboxes/${sandboxId}/files/${names.length === 0 ? '%2F' : names.join('/')}`
}

/** Where commands of the sandbox begin. */
export function useHome(team: string, sandboxId: string, isEnabled: boolean) {
  return useQuery({
    queryKey: [team, 'sandboxes', sandboxId, 'home'],
    enabled: isEnabled,
    staleTime: Infinity,
    queryFn: async () => {
      const response = await call(`${baseOf(team)}/sandboxes/${sandboxId}/commands`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ command: 'pwd', timeoutMs: 10_000 }),
      })
      const lines = (await response.text()).trim().split('\n')
      const texts = lines.map((line) => JSON.parse(line) as { type: string; data?: string })
      const said = texts.map(({ type, data = '' }) => (type === 'stdout' ? data : '')).join('')
      return said.trim() || '/'
    },
  })
}

export function useDirectory(team: string, sandboxId: string, path: string | undefined) {
  return useQuery({
    queryKey: [team, 'sandboxes', sandboxId, 'files', path],
    enabled: path !== undefined,
    queryFn: async () => {
      const entries = (await (await call(fileAddress(team, sandboxId, path ?? ''))).json()) as FileEntry[]
      return entries.toSorted(byKindAndName)
    },
  })
}

const byKindAndName = (a: FileEntry, b: FileEntry) =>
  Number(b.type === 'directory') - Number(a.type === 'directory') || a.name.localeCompare(b.name)

/** The text of a small file; undefined where it is no text. */
export function useFileText(team: string, sandboxId: string, path: string) {
  return useQuery({
    queryKey: [team, 'sandboxes', sandboxId, 'text', path],
    gcTime: 0,
    staleTime: Infinity,
    queryFn: async () => {
      const bytes = await (await call(fileAddress(team, sandboxId, path))).arrayBuffer()
      try {
        return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
      } catch (error) {
        if (error instanceof TypeError) return { text: undefined }
        throw error
      }
    },
  })
}

interface Write {
  path: string
  content: Blob
  signal?: AbortSignal
  onProgress?: (sentBytes: number) => void
}

export function useWriteFile(team: string, sandboxId: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ path, content, signal, onProgress }: Write) =>
      send(fileAddress(team, sandboxId, path), {
        method: 'PUT',
        body: content,
        headers: { 'Content-Type': 'application/octet-stream' },
        signal,
        onProgress,
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: [team, 'sandboxes', sandboxId, 'files'] }),
  })
}

export function useRemoveFile(team: string, sandboxId: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: ({ path, isDirectory }: { path: string; isDirectory: boolean }) =>
      call(`${fileAddress(team, sandboxId, path)}${isDirectory ? '?recursive=true' : ''}`, { method: 'DELETE' }),
    onSettled: () => queries.invalidateQueries({ queryKey: [team, 'sandboxes', sandboxId, 'files'] }),
  })
}
