import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Lab } from '../lab.ts'
import { answers, startProgram } from './program.ts'
import type { About } from './side.ts'

const root = resolve(import.meta.dirname, '../../..')

export const oursAbout: About = {
  software: 'this repository, embedded',
  isolation: 'a child process per team and process version, checked after each run; no wall yet',
  durability: 'PostgreSQL with fsync; row, events and result committed before the answer',
}

/** The system, started as its users start it, and its REST interface for the team `demo`. */
export interface Ours {
  pid: number
  url: string
  dataDir: string
  /** Calls `{base_url}` + path with a bearer token; throws unless the answer is a success. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>
  /** Headers that a load generator needs for REST calls. */
  headers: Record<string, string>
  /** Makes a process of the given JavaScript with an open webhook; answers the webhook's address and its id. */
  process(name: string, sourceCode: string): Promise<{ id: string; webhook: string }>
  close(): Promise<void>
}

/** Starts it on an empty folder, or on a given one, with further settings. */
export async function openOurs(lab: Lab, settings: Record<string, string> = {}, folder?: string): Promise<Ours> {
  const [dataDir, port] = await Promise.all([folder ?? lab.folder('ours'), lab.port()])
  const url = `http://127.0.0.1:${port}`
  const program = await startProgram({
    file: process.execPath,
    args: ['apps/embedded/src/main.ts'],
    cwd: root,
    env: { PORT: String(port), PUBLIC_URL: url, DATA_DIR: dataDir, ...settings },
    ready: () => answers(`${url}/readyz`),
  })
  try {
    const headers = { authorization: `Bearer ${await accessToken(url, dataDir)}` }
    const call = caller(`${url}/api/demo/rest`, headers)
    return { pid: program.pid, url, dataDir, call, headers, process: maker(url, call), close: () => program.stop() }
  } catch (error) {
    await program.stop()
    throw error
  }
}

async function accessToken(url: string, dataDir: string): Promise<string> {
  const apiToken = (await readFile(join(dataDir, 'bootstrap-token'), 'utf8')).trim()
  const answer = await fetch(`${url}/api/demo/rest/auth/token`, {
    method: 'POST',
    headers: { 'x-api-token': apiToken },
  })
  if (!answer.ok) throw new Error(`no access token: ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { access_token: string }).access_token
}

function caller(baseUrl: string, headers: Record<string, string>): Ours['call'] {
  return async <T>(method: string, path: string, body?: unknown) => {
    const answer = await fetch(baseUrl + path, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
}

function maker(url: string, call: Ours['call']): Ours['process'] {
  return async (name, sourceCode) => {
    const { id } = await call<{ id: string }>('POST', '/processes', {
      name,
      slug: name,
      programmingLanguage: 'JAVASCRIPT',
      sourceCode,
      webhook: { enabled: true },
    })
    return { id, webhook: `${url}/api/demo/webhooks/${name}` }
  }
}
