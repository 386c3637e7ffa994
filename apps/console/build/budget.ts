import { gzipSync } from 'node:zlib'
import type { Plugin, Rolldown } from 'vite'

/** Fails the build where the scripts that every first page needs take more than so many bytes, gzipped. */
export function budget(maxBytes: number): Plugin {
  return {
    name: 'budget',
    apply: 'build',
    generateBundle(_options, bundle) {
      const bytes = [...initialChunks(bundle)].reduce((sum, { code }) => sum + gzipSync(code).length, 0)
      this.info(`the first page needs ${bytes} bytes of scripts, gzipped; ${maxBytes} are allowed`)
      if (bytes > maxBytes)
        this.error(
          `The first page needs ${bytes} bytes of scripts, gzipped, and may have ${maxBytes}: load more of it later`,
        )
    },
  }
}

/** The entry of index.html and what it imports without being asked. */
export function initialChunks(bundle: Rolldown.OutputBundle): Set<Rolldown.OutputChunk> {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
  const found = new Set(
    chunks.filter(({ isEntry, facadeModuleId }) => isEntry && facadeModuleId?.endsWith('/index.html')),
  )
  for (const { imports } of found) for (const chunk of chunks) if (imports.includes(chunk.fileName)) found.add(chunk)
  return found
}
