import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'

// A program of its own: compiles the daemon, and says on descriptor 4 what came of it, as a JSON object of files by
// their paths, in base64. What the rehearsal has called is in it, too.
const { directory } = enableCompileCache(join(process.env['HOME'] ?? '', 'compiled'))
if (directory === undefined) throw new Error('Node can keep nothing of what it compiles here')
const silent = { error: () => undefined, warn: () => undefined, info: () => undefined }
const { rehearse } = await import('./rehearsal.ts')
await rehearse(silent)
flushCompileCache()
const paths = readdirSync(directory, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
const files = paths.map((path) => [path.slice(directory.length + 1), readFileSync(path, 'base64')])
writeFileSync(4, JSON.stringify(Object.fromEntries(files)))
process.exit(0)
