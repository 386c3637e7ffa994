import { join } from 'node:path'
import type { Rolldown } from 'vite'

/** What is shared by so many pages is one file for all of them, rather than a small one for each choice of pages. */
const SHARED_BY = 3

/** Few files: over HTTP/1.1 a browser has six connections, and on a slow network each round trip is felt. */
export function chunkGroups(root: string): Rolldown.CodeSplittingGroup[] {
  let ofAllPages: Set<string> | undefined
  const isOfAllPages = (id: string, context: Rolldown.ChunkingContext) => {
    ofAllPages ??= importedBy(join(root, 'src/main.tsx'), context)
    return ofAllPages.has(id)
  }
  return [
    { name: (id, context) => (isOfAllPages(id, context) ? 'start' : null), debugName: 'start', priority: 2 },
    { name: 'parts', test: /\/apps\/console\/src\//, minShareCount: SHARED_BY, priority: 1 },
  ]
}

/** A module with all that it imports without being asked, and what that imports. */
function importedBy(entry: string, context: Rolldown.ChunkingContext): Set<string> {
  const found = new Set([entry])
  for (const id of found) for (const one of context.getModuleInfo(id)?.importedIds ?? []) found.add(one)
  return found
}
