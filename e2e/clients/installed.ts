import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inject } from 'vitest'
import type * as source from '@automation/client'

/** The folder that the tarballs are installed in; undefined where the tests run on the sources. */
export const installedIn = process.env['CLIENTS_INSTALLED_IN']

/** The package as it is installed. */
export const client = (await imported('@process-automation/client', '@automation/client')) as typeof source

/** An entry of an installed package, by its published name; from the sources where nothing is installed. */
export function imported(name: string, inSources: string): Promise<unknown> {
  if (installedIn === undefined) return import(inSources) as Promise<unknown>
  const path = createRequire(join(installedIn, 'package.json')).resolve(name)
  return import(pathToFileURL(path).href) as Promise<unknown>
}

export const system = inject('clients')

/** A client of the shared system; `url` may be that of a proxy before it. */
export function clientAt(url: string = system.host, options: source.ClientOptions = {}): source.Client {
  return new client.Client({ url, team: system.team, token: system.apiToken, ...options })
}

let count = 0

/** A name that no other test uses. */
export function unique(prefix = 'ts'): string {
  count += 1
  return `${prefix}-${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}${count}`
}
