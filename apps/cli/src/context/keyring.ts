import { execFile } from 'node:child_process'
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { exitCodes, ExitError } from '../exit.ts'

const service = 'process-automation'
const account = 'pas'

/** Encrypts a text (AES-256-GCM) under a key that the OS keeps; makes the key where there is none. */
export async function seal(text: string): Promise<string> {
  const key = (await readKey()) ?? (await makeKey())
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
}

/** The text of `seal`. Throws an ExitError where the OS does not give the key. */
export async function open(sealed: string): Promise<string> {
  const key = await readKey()
  if (key === undefined) throw lostKey()
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(12, 28))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
  } catch {
    throw lostKey()
  }
}

async function readKey(): Promise<Buffer | undefined> {
  const { program, read } = keeper()
  const { code, stdout } = await call(program, read)
  return code === 0 && stdout.trim() !== '' ? Buffer.from(stdout.trim(), 'base64') : undefined
}

async function makeKey(): Promise<Buffer> {
  const key = randomBytes(32)
  const { program, write, input } = keeper()
  // The key goes by stdin: arguments can be read by others.
  const { code, stderr } = await call(program, write, input(key.toString('base64')))
  if (code !== 0)
    throw new ExitError(
      exitCodes.refused,
      `The keyring did not take the key: ${stderr.trim() || `${program} ended with ${code}`}. Sign in without --keyring to keep the token in a file that you alone can read.`,
    )
  return key
}

interface Keeper {
  program: string
  read: string[]
  write: string[]
  input(key: string): string
}

/** The program of the OS that keeps keys. */
function keeper(): Keeper {
  if (process.platform === 'darwin')
    return {
      program: 'security',
      read: ['find-generic-password', '-s', service, '-a', account, '-w'],
      write: ['-i'],
      input: (key) => `add-generic-password -U -s ${service} -a ${account} -w ${key}\n`,
    }
  if (process.platform === 'linux')
    return {
      program: 'secret-tool',
      read: ['lookup', 'service', service, 'account', account],
      write: ['store', '--label=Process Automation', 'service', service, 'account', account],
      input: (key) => key,
    }
  throw noKeyring(`${process.platform} has none that this program knows`)
}

function call(program: string, args: string[], input = ''): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code
      if (code === 'ENOENT') reject(noKeyring(`${program} is not installed`))
      else resolve({ code: typeof code === 'number' ? code : 1, stdout, stderr })
    })
    child.stdin?.on('error', () => undefined) // it ended without reading; its code says so
    child.stdin?.end(input)
  })
}

const noKeyring = (why: string) =>
  new ExitError(
    exitCodes.refused,
    `There is no keyring: ${why}. Sign in without --keyring to keep the token in a file that you alone can read.`,
    { reason: 'no_keyring' },
  )

const lostKey = () =>
  new ExitError(
    exitCodes.login,
    'The keyring does not give the key of the stored token. Unlock it, or sign in again by "pas login".',
  )
