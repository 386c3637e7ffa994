import { readFileSync } from 'node:fs'
import type { Environment } from '@automation/service'
import { cpusOf, memoryMbOf } from './quantity.ts'

/** An image that sandboxes are made from. */
export interface Image {
  id: string
  /** As a cluster pulls it; the local driver has the machine's own programs for every image. */
  image: string
  /** Instead of the image's own. */
  command?: string[]
  /** Of a core; absent: no bound. */
  cpus?: number
  memoryMb: number
  runtimeClassName?: string
  /** How many are to be kept ready. */
  warm: number
  /** It is none that the operator offers. */
  isNamedByCaller?: true
}

/** What holds for sandboxes of every image. */
interface SandboxDefaults {
  /** The image that carries the daemon to those without a command. */
  daemonImage?: string
  /** Of images that name none, of callers' own among them. */
  runtimeClassName?: string
  /** What the home of a sandbox may hold. */
  homeMb: number
  /** A sandbox that does not answer after so long has failed. */
  startTimeoutMs: number
}

const usualDefaults: SandboxDefaults = { homeMb: 512, startTimeoutMs: 30_000 }

/** What the operator offers. */
export class Catalogue {
  readonly images: Image[]
  readonly allowAnyImage: boolean
  readonly defaults: SandboxDefaults

  constructor(images: Image[], allowAnyImage: boolean, defaults = usualDefaults) {
    this.images = images
    this.allowAnyImage = allowAnyImage
    this.defaults = defaults
  }

  /** By its id or, where any image is allowed, by an image's name; undefined when there is none. */
  find(id: string): Image | undefined {
    const known = this.images.find((image) => image.id === id)
    if (known !== undefined) return known
    if (!this.allowAnyImage || !isReference(id)) return undefined
    const { runtimeClassName } = this.defaults
    return { id, image: id, memoryMb: usualMemoryMb, runtimeClassName, warm: 0, isNamedByCaller: true }
  }
}

const usualMemoryMb = 1024
const maxWarm = 100
const base: Image = { id: 'base', image: 'base', memoryMb: usualMemoryMb, warm: 1 }

/** Reads the file that SANDBOX_IMAGES names; without one there is the image `base`. Faults are noted in `env`. */
export function readCatalogue(env: Environment): Catalogue {
  const path = env.text('SANDBOX_IMAGES')
  if (path === undefined) return new Catalogue([base], false)
  const fault = (text: string) => env.fault('SANDBOX_IMAGES', `names ${path}, ${text}`)
  try {
    return catalogueOf(JSON.parse(readFileSync(path, 'utf8')) as unknown, (where, text) =>
      fault(`where ${where} ${text}`),
    )
  } catch (error) {
    fault(error instanceof SyntaxError ? `which is no JSON: ${error.message}` : `which can't be read: ${codeOf(error)}`)
    return new Catalogue([base], false)
  }
}

type Fault = (where: string, text: string) => void

/** A catalogue from its JSON; what is wrong in it is told to `fault`, all of it. */
function catalogueOf(value: unknown, fault: Fault): Catalogue {
  if (!isRecord(value)) {
    fault('the whole', 'must be an object with images')
    return new Catalogue([], false)
  }
  const { images, allowAnyImage = false, daemonImage, runtimeClassName, homeMb, startTimeoutMs, ...others } = value
  for (const name of Object.keys(others)) fault(name, 'is no member of a catalogue')
  if (typeof allowAnyImage !== 'boolean') fault('allowAnyImage', 'must be true or false')
  if (!Array.isArray(images)) {
    fault('images', 'must be a list')
    return new Catalogue([], false)
  }
  const found = images.map((each, at) => imageOf(each, `images[${at}]`, fault))
  const twice = found.find(({ id }, at) => found.findIndex((other) => other.id === id) < at)
  if (twice !== undefined) fault('images', `have the id ${JSON.stringify(twice.id)} twice`)
  const isDaemonImage = daemonImage === undefined || (typeof daemonImage === 'string' && isReference(daemonImage))
  if (!isDaemonImage) fault('daemonImage', 'must be the name of an image')
  const usualClass = classOf(runtimeClassName, 'runtimeClassName', fault)
  const all = found.map((image) => ({ ...image, runtimeClassName: image.runtimeClassName ?? usualClass }))
  return new Catalogue(all, allowAnyImage === true, {
    daemonImage: isDaemonImage ? daemonImage : undefined,
    runtimeClassName: usualClass,
    homeMb: numberOf(homeMb, { at: 'homeMb', fallback: usualDefaults.homeMb, min: 1, max: 65_536 }, fault),
    startTimeoutMs: numberOf(
      startTimeoutMs,
      { at: 'startTimeoutMs', fallback: usualDefaults.startTimeoutMs, min: 1000, max: 600_000 },
      fault,
    ),
  })
}

function numberOf(
  value: unknown,
  { at, fallback, min, max }: { at: string; fallback: number; min: number; max: number },
  fault: Fault,
): number {
  if (value === undefined) return fallback
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  fault(at, `must be a whole number from ${min} to ${max}`)
  return fallback
}

function imageOf(value: unknown, at: string, fault: Fault): Image {
  if (!isRecord(value)) {
    fault(at, 'must be an object')
    return base
  }
  const { id, image, command, cpu, memory, runtimeClassName, warm = 0, ...others } = value
  for (const name of Object.keys(others)) fault(`${at}.${name}`, 'is no member of an image')
  const isId = typeof id === 'string' && /^[a-zA-Z0-9](?:[a-zA-Z0-9._-]{0,251}[a-zA-Z0-9])?$/.test(id)
  if (!isId) fault(`${at}.id`, 'must be 1 to 253 letters, digits and inner . _ -')
  const isImage = typeof image === 'string' && isReference(image)
  if (!isImage) fault(`${at}.image`, 'must be the name of an image')
  const isCommand = command === undefined || isCommandLine(command)
  if (!isCommand) fault(`${at}.command`, 'must be a list of texts, at least one')
  const cpus = cpu === undefined ? undefined : cpusOf(cpu)
  if (cpu !== undefined && cpus === undefined) fault(`${at}.cpu`, 'must be an amount such as 0.5 or 500m')
  const memoryMb = memory === undefined ? usualMemoryMb : memoryMbOf(memory)
  if (memoryMb === undefined) fault(`${at}.memory`, 'must be an amount such as 512Mi or 2Gi, at least 32Mi')
  const isWarm = typeof warm === 'number' && Number.isInteger(warm) && warm >= 0 && warm <= maxWarm
  if (!isWarm) fault(`${at}.warm`, `must be a whole number from 0 to ${maxWarm}`)
  return {
    id: isId ? id : at,
    image: isImage ? image : '',
    command: isCommand ? command : undefined,
    cpus,
    memoryMb: memoryMb ?? usualMemoryMb,
    runtimeClassName: classOf(runtimeClassName, `${at}.runtimeClassName`, fault),
    warm: isWarm ? warm : 0,
  }
}

/** Registry, path, tag and digest. */
function isReference(text: string): boolean {
  return (
    text.length <= 253 &&
    /^[a-z0-9][a-zA-Z0-9._-]*(?::\d{1,5})?(?:\/[a-z0-9][a-z0-9._-]*)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/.test(
      text,
    )
  )
}

function classOf(value: unknown, at: string, fault: Fault): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string' && /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/.test(value)) return value
  fault(at, 'must be the name of a runtime class')
  return undefined
}

function isCommandLine(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
