import { invalid } from '@automation/errors'

/** What the public ports of a sandbox ask for, before it is hashed. */
export interface PortCredential {
  username: string
  /** One of the two. */
  passwordHash?: string
  password?: string
}

export const credentialPath = '/publicHttpPortsBasicAuth'

// bcrypt reads no further.
const passwordMaxBytes = 72
const usernameMaxChars = 255
const bcryptCosts = { least: 4, most: 14 }

const knownHashes = [
  { prefix: /^\$2[abxy]\$/, grammar: /^\$2[abxy]\$\d\d\$[./A-Za-z0-9]{53}$/ },
  { prefix: /^\$apr1\$/, grammar: /^\$apr1\$[./A-Za-z0-9]{0,8}\$[./A-Za-z0-9]{22}$/ },
  { prefix: /^\$1\$/, grammar: /^\$1\$[./A-Za-z0-9]{0,8}\$[./A-Za-z0-9]{22}$/ },
  // 20 bytes.
  { prefix: /^\{SHA\}/, grammar: /^\{SHA\}[A-Za-z0-9+/]{26}[AEIMQUYcgkosw048]=$/ },
]

/** Reads `user:credential`; absent and empty are none. Fails with the path of the field. */
export function portCredential(text: string | undefined): PortCredential | undefined {
  if (text === undefined || text === '') return undefined
  const colon = text.indexOf(':')
  if (colon < 1) throw refused('must be user:credential')
  const username = text.slice(0, colon)
  const credential = text.slice(colon + 1)
  // oxlint-disable-next-line no-control-regex -- HTTP Basic carries none of these
  if (/[\0-\x1f\x7f]/.test(text)) throw refused('must hold no control characters')
  if ([...username].length > usernameMaxChars)
    throw refused(`must have a user of at most ${usernameMaxChars} characters`)
  if (credential === '') throw refused('must have a credential behind the colon')
  const known = knownHashes.find(({ prefix }) => prefix.test(credential))
  if (known === undefined) {
    if (Buffer.byteLength(credential) > passwordMaxBytes)
      throw refused(`must have a password of at most ${passwordMaxBytes} bytes`)
    return { username, password: credential }
  }
  if (!known.grammar.test(credential)) throw refused('has a credential that begins like a known hash and is none')
  const cost = /^\$2[abxy]\$(\d\d)/.exec(credential)?.[1]
  if (cost !== undefined && (Number(cost) < bcryptCosts.least || Number(cost) > bcryptCosts.most))
    throw refused(`must have a bcrypt cost of ${bcryptCosts.least} to ${bcryptCosts.most}`)
  return { username, passwordHash: credential }
}

function refused(text: string) {
  return invalid(credentialPath, text)
}
