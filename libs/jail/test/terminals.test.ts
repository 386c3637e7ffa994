import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const program = join(import.meta.dirname, 'terminal-in-jail.ts')
const isRoot = process.getuid?.() === 0
const nobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']

test.each([['an ordinary account', isRoot ? nobody : []] as const, ...(isRoot ? [['root', []] as const] : [])])(
  'a jail that %s makes has terminals of its own, and no right more for it',
  async (_, as) => {
    const [command = '', ...args] = [...as, process.execPath, program]
    const { PATH = '' } = process.env
    const { stdout, stderr } = await promisify(execFile)(command, args, { env: { PATH, HOME: '/tmp', TMPDIR: '/tmp' } })
    if (stdout === '' && stderr === '') return // no jail here
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      terminal: '/dev/pts/0',
      read: 'over the terminal',
      uid: 1000,
      home: 1000,
      capabilities: '',
      mayBecomeRoot: false,
      namespaces: '0',
      mayRaiseThem: false,
    })
  },
)
