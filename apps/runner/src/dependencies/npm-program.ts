import { access, realpath } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join } from 'node:path'

/** npm's program, and the folder of the package that it belongs to; undefined where there is none. */
export async function findNpm(name: string): Promise<{ program: string; folder: string } | undefined> {
  const places = isAbsolute(name)
    ? [name]
    : (process.env['PATH'] ?? '').split(delimiter).map((place) => join(place, name))
  for (const place of places) {
    const program = await realpath(place).catch(() => undefined)
    // What is found is a script of npm's own package: `npm/bin/npm-cli.js`.
    const folder = program === undefined ? undefined : dirname(dirname(program))
    if (program?.endsWith('.js') !== true || folder === undefined) continue
    if (await isThere(join(folder, 'package.json'))) return { program, folder }
  }
  return undefined
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
