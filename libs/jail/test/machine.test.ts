import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileBytes, processOf } from '@automation/jail'
import { directoriesIn } from '../src/cgroup-directories.ts'

const second = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate'
const hybrid = '31 30 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:10 - cgroup2 cgroup2 rw'
const together = '33 30 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:12 - cgroup cgroup rw,cpu,cpuacct'
const apart = [
  '34 30 0:30 / /sys/fs/cgroup/cpu rw shared:13 - cgroup cgroup rw,cpu',
  '35 30 0:31 / /sys/fs/cgroup/cpuacct rw shared:14 - cgroup cgroup rw,cpuacct',
].join('\n')
const contained = '40 39 0:26 /system.slice/docker-1.scope /sys/fs/cgroup ro master:9 - cgroup2 cgroup rw'

test.for([
  ['the second kind', '0::/system.slice/a.service', second, 'cpu', ['/sys/fs/cgroup/system.slice/a.service']],
  ['the second kind, in a container with a tree of its own', '0::/', second, 'cpu', ['/sys/fs/cgroup/']],
  ['a part of the tree', '0::/system.slice/docker-1.scope/init', contained, 'cpu', ['/sys/fs/cgroup/init']],
  ['the root of that part', '0::/system.slice/docker-1.scope', contained, 'cpu', ['/sys/fs/cgroup']],
  ['another part than the one that is shown', '0::/system.slice/docker-1.scope2', contained, 'cpu', []],
  ['a name with a colon', '0::/a:b', second, 'cpu', ['/sys/fs/cgroup/a:b']],
  ['the first kind, two in one tree', '4:cpu,cpuacct:/x', together, 'cpuacct', ['/sys/fs/cgroup/cpu,cpuacct/x']],
  ['the first kind, each in its own', '4:cpu:/x\n5:cpuacct:/y', apart, 'cpuacct', ['/sys/fs/cgroup/cpuacct/y']],
  ['a controller with a longer name', '5:cpuacct:/y', apart, 'cpu', []],
  [
    'both kinds',
    '4:cpu,cpuacct:/x\n0::/user.slice',
    `${together}\n${hybrid}`,
    'cpu',
    ['/sys/fs/cgroup/cpu,cpuacct/x', '/sys/fs/cgroup/unified/user.slice'],
  ],
  ['no tree at all', '0::/', '23 1 8:1 / / rw - ext4 /dev/sda1 rw', 'cpu', []],
  ['a kernel without groups', '', second, 'cpu', []],
] as const)('%s', ([, cgroup, mountinfo, controller, expected]) => {
  expect(directoriesIn(`${cgroup}\n`, `${mountinfo}\n`, controller)).toEqual(expected)
})

const own = processOf(process.pid)

test('files on a disk hold no memory', () => {
  expect(fileBytes(own, ['/usr'])).toBe(0)
})

test('files in memory do', () => {
  const directory = mkdtempSync('/dev/shm/memory-')
  writeFileSync(join(directory, 'file'), Buffer.alloc(1_000_000, 1))
  expect(fileBytes(own, ['/dev/shm'])).toBeGreaterThanOrEqual(1_000_000)
  rmSync(directory, { recursive: true })
})
