import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Lines that a merge has left to be resolved in files; `tracked` are their paths from `root`. One line for each fault. The
 * `=======` between the two sides is no sign by itself: it also underlines headings.
 */
export async function conflictFaults(root: string, tracked: string[]): Promise<string[]> {
  const faults = await Promise.all(
    tracked.map(async (path) => {
      const lines = (await readFile(join(root, path), 'utf8')).split('\n')
      return lines.flatMap((line, index) =>
        /^(?:<{7}|>{7}) /.test(line) ? [`${path}:${index + 1} is left of a merge: ${line.slice(0, 100)}`] : [],
      )
    }),
  )
  return faults.flat()
}
