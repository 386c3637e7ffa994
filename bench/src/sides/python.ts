import { execFileSync } from 'node:child_process'

let found: { file: string; version: string } | undefined

/**
 * The interpreter behind `python3`, asked for once: a version manager's wrapper in front of it would otherwise be
 * measured with each start.
 */
export function python(): { file: string; version: string } {
  if (found === undefined) {
    const ask = 'import platform, sys; print(sys.executable); print(platform.python_version())'
    const [file = '', version = ''] = execFileSync('python3', ['-c', ask], { encoding: 'utf8' }).split('\n')
    found = { file, version }
  }
  return found
}
