// Builds the console where its sources are not those of the last build: beside the folder that is served, which is
// replaced when all of it is there. Prints one line where it has built.
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { constants as priorities, setPriority } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { claim } from '@automation/service/claim'
import { build } from 'vite'
import { builtDigest, builtFolder, consoleFolder, digestFile, sourcesDigest } from './sources-digest.ts'

const cache = fileURLToPath(new URL('../../../../node_modules/.cache/console/', import.meta.url))

const compressed = new Set(['.css', '.js', '.json', '.svg', '.wasm'])
const leastBytes = 1024

// Whoever runs beside it comes first.
setPriority(priorities.priority.PRIORITY_LOW)

const lock = await claim(join(cache, 'lock'), {})
if (lock.held) {
  try {
    await buildChanged()
  } finally {
    lock.release()
  }
}

async function buildChanged(): Promise<void> {
  const digest = await sourcesDigest()
  if (digest === (await builtDigest())) return
  const started = performance.now()
  const next = join(cache, 'next')
  await mkdir(next, { recursive: true })
  try {
    await build({
      root: consoleFolder,
      configFile: join(consoleFolder, 'vite.config.ts'),
      logLevel: 'error',
      build: { outDir: next, emptyOutDir: true },
    })
    await compress(join(next, 'assets'))
    await writeFile(join(next, digestFile), `${digest}\n`)
    await rm(builtFolder, { recursive: true, force: true })
    await rename(next, builtFolder)
  } finally {
    await rm(next, { recursive: true, force: true })
  }
  process.stdout.write(`${Math.round(performance.now() - started)}\n`)
}

/** Puts the smaller forms of each file beside it, where they are smaller. */
async function compress(folder: string): Promise<void> {
  const brotli = promisify(brotliCompress)
  for (const name of await readdir(folder)) {
    if (!compressed.has(extname(name))) continue
    const path = join(folder, name)
    const content = await readFile(path)
    if (content.length < leastBytes) continue
    const forms = {
      br: await brotli(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
      gz: await promisify(gzip)(content, { level: 9 }),
    }
    for (const [ending, form] of Object.entries(forms))
      if (form.length < content.length) await writeFile(`${path}.${ending}`, form)
  }
}
