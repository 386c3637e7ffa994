import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { ApiError, type Client } from '@automation/client'
import { readIdentity } from '../context/identity.ts'
import { all } from './read-team.ts'
import { readLines, teamData, type ExportedAccount } from './team-data.ts'

/**
 * The service accounts that have not ended, without their secrets. That of the client's own token is among them where
 * `ownAccount` says so.
 */
export async function readAccounts(client: Client, ownAccount: boolean): Promise<ExportedAccount[]> {
  const { subject } = ownAccount ? {} : await readIdentity(client)
  const accounts = await all(client.auth.serviceAccounts())
  return accounts
    .filter((account) => account.clientId !== subject && !hasEnded(account))
    .map(({ name, scopes, expiresAt }) => ({ name, scopes, ...(expiresAt !== undefined && { expiresAt }) }))
}

/** What came of the service accounts of an export. */
interface ImportedAccounts {
  made: number
  /** Of those that are not there, what they are and why: they have no API token. */
  missing: string[]
}

/**
 * Makes the service accounts of an export that the team has none of the same name for, each with a new API token, which is
 * appended to the file at `tokensPath` as a line of JSON. Without a path it makes none, and tells which are missing.
 */
export async function importAccounts(
  client: Client,
  folder: string,
  tokensPath: string | undefined,
): Promise<ImportedAccounts> {
  const wanted = await Array.fromAsync(
    readLines<ExportedAccount>(join(folder, teamData.accounts), { mayBeAbsent: true }),
  )
  if (wanted.length === 0) return { made: 0, missing: [] }
  const accounts = await all(client.auth.serviceAccounts())
  const present = accounts.filter((account) => !hasEnded(account)).map(({ name }) => name)
  const absent = wanted.filter(({ name }) => {
    const at = present.indexOf(name)
    if (at !== -1) present.splice(at, 1)
    return at === -1
  })
  if (tokensPath === undefined) return { made: 0, missing: absent.map((account) => words(account)) }
  const missing: string[] = []
  const tokens = await openTokens(tokensPath)
  try {
    for (const account of absent.toReversed()) {
      const fault = hasEnded(account) ? 'it has ended meanwhile' : await make(client, account, tokens)
      if (fault !== undefined) missing.push(`${words(account)}: ${fault}`)
    }
  } finally {
    await tokens.close()
  }
  return { made: absent.length - missing.length, missing }
}

/** Opens a file for API tokens, which its owner alone may read; tokens that it has stay. */
export async function openTokens(path: string): Promise<FileHandle> {
  const file = await open(path, 'a', 0o600)
  await file.chmod(0o600)
  return file
}

/** Gives why the server makes no such account; undefined where it has. */
async function make(client: Client, account: ExportedAccount, tokens: FileHandle): Promise<string | undefined> {
  let made
  try {
    made = await client.auth.createServiceAccount(account)
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    return [error.message, ...error.errors.map(({ path, message }) => `${path} ${message}`)].join('; ')
  }
  const { id, name, clientId, scopes, expiresAt, apiToken } = made
  try {
    await tokens.appendFile(`${JSON.stringify({ name, clientId, scopes, expiresAt, apiToken })}\n`)
  } catch (error) {
    // Nobody has its token, and the next import would find it there.
    await client.auth.deleteServiceAccount(id)
    throw error
  }
  return undefined
}

function words({ name, scopes, expiresAt }: ExportedAccount): string {
  return `${name} (${scopes.join(',')}${expiresAt === undefined ? '' : `, until ${expiresAt}`})`
}

function hasEnded({ expiresAt }: Pick<ExportedAccount, 'expiresAt'>): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now()
}
