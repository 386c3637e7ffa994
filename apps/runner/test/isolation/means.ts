import { execFileSync } from 'node:child_process'
import { accessSync, readFileSync } from 'node:fs'
import { networkHelpers } from '@automation/jail'

/**
 * What an isolation level needs of the machine, found out without the launcher: so one that is broken is not taken for one
 * that can't be had.
 */
export type Means = 'namespaces' | 'own network' | 'Landlock' | 'Landlock for ports'

const portsFrom = 4
// Above all numbers that launchers give their children.
const lastUid = 0x7fff_ffff

const asks: Record<Means, () => string | undefined> = {
  namespaces: () => {
    const [inside = 0, , count = 0] = readFileSync('/proc/self/uid_map', 'utf8').trim().split(/\s+/).map(Number)
    if (process.getuid?.() === 0 && inside + count <= lastUid) return 'this root has no numbers of users to give'
    const kinds = ['--user', '--map-root-user', '--mount', '--pid', '--fork', '--ipc', '--uts', '--mount-proc']
    return refusal(() => execFileSync('unshare', [...kinds, 'true'], { stdio: 'pipe' }))
  },
  'own network': () => {
    if (networkHelpers().length === 0) return 'neither slirp4netns nor pasta is here'
    return refusal(() => accessSync('/dev/net/tun'))
  },
  Landlock: () => (landlock() >= 1 ? undefined : 'the kernel has no Landlock'),
  'Landlock for ports': () => (landlock() >= portsFrom ? undefined : 'Landlock of this kernel knows no ports'),
}

const known = new Map<Means, string | undefined>()

/** Why there are not all of these on this machine, in words; undefined when they are there. */
export function missing(means: Means[]): string | undefined {
  for (const each of means) {
    if (!known.has(each)) known.set(each, asks[each]())
    const why = known.get(each)
    if (why !== undefined) return why
  }
  return undefined
}

function refusal(attempt: () => void): string | undefined {
  try {
    attempt()
    return undefined
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: Buffer }
    return stderr?.toString().trim() || message
  }
}

/** Its version; 0 where the kernel has none, or has it turned off. */
function landlock(): number {
  const program = 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1))'
  return Math.max(0, Number(execFileSync('python3', ['-I', '-c', program])))
}
