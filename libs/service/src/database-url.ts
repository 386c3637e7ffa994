import type { Environment } from './environment.ts'

/** Reads DATABASE_URL, empty where it is missing; a fault is noted in `env`. */
export function readDatabaseUrl(env: Environment): string {
  const url = env.secret('DATABASE_URL')
  const such = 'must be an address such as postgres://user:password@host:5432/database'
  if (url === undefined) env.fault('DATABASE_URL', 'must be set')
  // What a driver makes of any other text is a host that nobody has.
  else if (!/^postgres(ql)?:\/\//.test(url)) env.fault('DATABASE_URL', such)
  // Drivers take a user without a host.
  else if (![url, url.replace('@/', '@host/')].some((each) => URL.canParse(each)))
    env.fault('DATABASE_URL', `${such}, with one host, and with %2F for a slash in the password`)
  return url ?? ''
}
