import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The environment of a service that `start:services` runs in this folder: a further replica of it wants the same. */
export async function serviceEnvironment(dataDir: string, service: string): Promise<Record<string, string>> {
  const text = await readFile(join(dataDir, 'services.json'), 'utf8')
  const { services } = JSON.parse(text) as { services: Record<string, { pid: number }> }
  const environ = await readFile(`/proc/${services[service]!.pid}/environ`, 'utf8')
  const pairs = environ.split('\0').filter((pair) => pair.includes('='))
  return Object.fromEntries(pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]))
}
