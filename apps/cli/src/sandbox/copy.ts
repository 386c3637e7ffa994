import { basename, posix } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { blobOf, placeHere, saveFile, streamOf } from '../output/local-file.ts'
import { usageError, type Runtime } from '../runtime.ts'

// A file has up to 1 GiB.
const transferMs = 3_600_000

/** Copies a file into a sandbox or out of it; one of the two is `ID:PATH`. */
export async function copy(runtime: Runtime, src: string, dst: string): Promise<void> {
  const [from, to] = [inSandbox(src), inSandbox(dst)]
  if ((from === undefined) === (to === undefined))
    throw usageError('One of the two is in a sandbox: pas sandbox cp FILE ID:PATH, or ID:PATH FILE')
  const { sandboxes } = await runtime.client()
  const { files } = sandboxes.use(await sandboxes.get(to?.id ?? from!.id))
  if (to !== undefined) {
    const content = await blobOf(src)
    const name = to.path.endsWith('/') ? posix.join(to.path, basename(src)) : to.path
    await files.write(name, content, { requestTimeoutMs: transferMs })
    return
  }
  const { body } = await files.open(from!.path)
  const file = await placeHere(from!.path, dst)
  await (file === '-' ? pipeline(streamOf(body), runtime.stdout, { end: false }) : saveFile(body, file))
}

/** `ID:PATH`, from the root of the sandbox; a word with a slash before the colon is a file here. */
function inSandbox(word: string): { id: string; path: string } | undefined {
  const [, of, path] = /^([^/:.]+):(.+)$/s.exec(word) ?? []
  return of === undefined || path === undefined ? undefined : { id: of, path: path.startsWith('/') ? path : `/${path}` }
}
