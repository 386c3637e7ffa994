// A program of its own: writes the daemon into the folder that is named, as few files, which Node has read in half of the time
// that hundreds take. It may be read by whoever is in a jail.
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const daemon = fileURLToPath(new URL('../../../../sandbox-daemon/', import.meta.url))
const [folder = ''] = process.argv.slice(2)

process.umask(0o022)
await build({
  cwd: daemon,
  input: { main: 'src/main.ts', compiled: 'src/compiled.ts' },
  platform: 'node',
  output: { dir: folder, entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
})
await copyFile(join(daemon, 'pty/pty.py'), join(folder, 'pty.py'))
