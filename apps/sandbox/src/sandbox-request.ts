import type { CreateSandboxRequest } from '@automation/contract/sandbox/v1/sandbox'
import { invalid } from '@automation/errors'
import { Faults, readAll } from '@automation/errors/faults'
import type { Catalogue, Image } from './catalogue.ts'

/** A sandbox as it was asked for, checked. */
interface SandboxRequest {
  image: Image
  /** Undefined: made from the image and the id. */
  name: string | undefined
  metadata: Record<string, string>
  timeoutMs: number
  publicHttpPorts: number[]
  credential: PortCredential | undefined
}

const usualTimeoutMs = 300_000
const timeouts = { least: 1000, most: 86_400_000 }
const nameMaxChars = 255
const metadataMost = { pairs: 64, bytes: 64 * 1024 }
const portsMost = 20

/** Failures: invalid_argument with the path of the field; image_not_found. */
export function checkedRequest(request: CreateSandboxRequest, catalogue: Catalogue): SandboxRequest {
  const { imageId, name, metadata, timeoutMs, publicHttpPorts, publicHttpPortsBasicAuth } = request
  return readAll({
    image: () => imageOf(imageId, catalogue),
    name: () => nameOf(name),
    metadata: () => checkedMetadata(metadata),
    timeoutMs: () => (timeoutMs === undefined ? usualTimeoutMs : checkedTimeout(timeoutMs)),
    publicHttpPorts: () => checkedPorts(publicHttpPorts),
    credential: () => portCredential(publicHttpPortsBasicAuth),
  })
}

function imageOf(imageId: string, catalogue: Catalogue): Image {
  if (imageId === '') throw invalid('/imageId', 'is required')
  const image = catalogue.find(imageId)
  if (image === undefined) throw invalid('/imageId', `names no image; ${offered(catalogue)}`, 'image_not_found')
  return image
}

function offered({ images, allowAnyImage }: Catalogue): string {
  const ids = images.map(({ id }) => id).join(', ')
  return allowAnyImage ? `there are ${ids} and whatever an image's full name leads to` : `there are ${ids || 'none'}`
}

/** Milliseconds of a timeout. Failure invalid `/timeout`. */
export function checkedTimeout(timeoutMs: bigint): number {
  if (timeoutMs < timeouts.least || timeoutMs > timeouts.most)
    throw invalid('/timeout', `must be ${timeouts.least} to ${timeouts.most} milliseconds`)
  return Number(timeoutMs)
}

/** An empty name is none. */
function nameOf(name: string | undefined): string | undefined {
  if (name === undefined || name.trim() === '') return undefined
  if (name.includes('\0')) throw invalid('/name', 'must not contain NUL characters')
  if ([...name].length > nameMaxChars) throw invalid('/name', `must have at most ${nameMaxChars} characters`)
  return name
}

function checkedMetadata(metadata: Record<string, string>): Record<string, string> {
  const pairs = Object.entries(metadata)
  if (pairs.length > metadataMost.pairs) throw invalid('/metadata', `must have at most ${metadataMost.pairs} pairs`)
  const bytes = pairs.flat().reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes > metadataMost.bytes) throw invalid('/metadata', `must have at most ${metadataMost.bytes} bytes`)
  return metadata
}

function checkedPorts(ports: number[]): number[] {
  if (ports.length > portsMost) throw invalid('/publicHttpPorts', `must have at most ${portsMost} ports`)
  const faults = new Faults()
  ports.forEach((port, at) => {
    if (port < 1 || port > 65_535) faults.add(`/publicHttpPorts/${at}`, 'must be a port from 1 to 65535')
    else if (ports.indexOf(port) < at) faults.add(`/publicHttpPorts/${at}`, 'is there twice')
  })
  faults.check()
  return ports
}

/** What the public ports of a sandbox ask for, before it is hashed. */
export interface PortCredential {
  username: string
  /** One of the two. */
  passwordHash?: string
  password?: string
}

const credentialPath = '/publicHttpPortsBasicAuth'

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
function portCredential(text: string | undefined): PortCredential | undefined {
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
