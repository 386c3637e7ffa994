import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Directories of this process in the trees that may know this of its groups: `cpu`, `cpuacct` or `memory`. */
export function directoriesOf(controller: string): string[] {
  const textOf = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '')
  return directoriesIn(textOf('/proc/self/cgroup'), textOf('/proc/self/mountinfo'), controller)
}

interface Mount {
  root: string
  at: string
  type: string
  options: string[]
}

/**
 * Directories in which the kernel shows a process its own groups that may have a controller, such as `cpu`: of the first
 * kind of trees by its name, of the second whatever it has. By `/proc/PID/cgroup` and `/proc/PID/mountinfo`.
 */
export function directoriesIn(cgroup: string, mountinfo: string, controller: string): string[] {
  const mounts = linesOf(mountinfo).map(mountOf)
  return linesOf(cgroup).flatMap((line) => {
    const [, controllers = '', ...parts] = line.split(':')
    const path = parts.join(':')
    if (controllers === '') return shown(path, mounts, ({ type }) => type === 'cgroup2')
    if (!controllers.split(',').includes(controller)) return []
    return shown(path, mounts, ({ type, options }) => type === 'cgroup' && options.includes(controller))
  })
}

/** Where these mounts show a path of their tree. */
function shown(path: string, mounts: readonly Mount[], isFor: (mount: Mount) => boolean): string[] {
  return mounts.filter(isFor).flatMap(({ root, at }) => {
    const above = root === '/' ? '' : root
    return path === above || path.startsWith(`${above}/`) ? [join(at, path.slice(above.length))] : []
  })
}

/** A line as proc_pid_mountinfo(5) has it. */
function mountOf(line: string): Mount {
  const [head = '', tail = ''] = line.split(' - ')
  const [, , , root = '', at = ''] = head.split(' ')
  const [type = '', , options = ''] = tail.split(' ')
  return { root, at, type, options: options.split(',') }
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}
