import type { CreateSandboxRequest } from '@automation/contract/sandbox/v1/sandbox'
import { invalid } from '@automation/errors'
import type { Catalogue, Image } from './catalogue.ts'
import { portCredential, type PortCredential } from './port-credential.ts'

/** A sandbox as it was asked for, checked. */
export interface Wish {
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
export function wishOf(request: CreateSandboxRequest, catalogue: Catalogue): Wish {
  const { imageId, name, metadata, timeoutMs, publicHttpPorts, publicHttpPortsBasicAuth } = request
  if (imageId === '') throw invalid('/imageId', 'is required')
  const image = catalogue.find(imageId)
  if (image === undefined) throw invalid('/imageId', `names no image; ${offered(catalogue)}`, 'image_not_found')
  return {
    image,
    name: nameOf(name),
    metadata: checkedMetadata(metadata),
    timeoutMs: timeoutMs === undefined ? usualTimeoutMs : checkedTimeout(timeoutMs),
    publicHttpPorts: checkedPorts(publicHttpPorts),
    credential: portCredential(publicHttpPortsBasicAuth),
  }
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
  ports.forEach((port, at) => {
    if (port < 1 || port > 65_535) throw invalid(`/publicHttpPorts/${at}`, 'must be a port from 1 to 65535')
    if (ports.indexOf(port) < at) throw invalid(`/publicHttpPorts/${at}`, 'is there twice')
  })
  return ports
}
