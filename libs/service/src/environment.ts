import { readFileSync } from 'node:fs'

interface Setting {
  name: string
  value: string | undefined
  secret: boolean
}

interface NumberRange {
  default: number
  min?: number
  max?: number
}

/** All faults of a configuration at once, one line each, each naming its setting. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly faults: string[]

  constructor(faults: string[]) {
    super(
      `The configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    )
    this.faults = faults
  }
}

/**
 * Typed reading of environment variables. Each read names its setting, its default and its bounds; faults are
 * collected, and `check` throws all of them at once. An empty value counts as absent.
 */
export class Environment {
  readonly #values: Record<string, string | undefined>
  readonly #faults: string[] = []
  readonly #settings = new Map<string, Setting>()

  constructor(values: Record<string, string | undefined>) {
    this.#values = values
  }

  text(name: string, fallback: string): string
  text(name: string, fallback?: string): string | undefined
  text(name: string, fallback?: string): string | undefined {
    return this.#note(name, this.#raw(name) ?? fallback, false)
  }

  /** A text that is masked wherever settings are shown; may also come from the file that `NAME_FILE` names. */
  secret(name: string, fallback: string): string
  secret(name: string, fallback?: string): string | undefined
  secret(name: string, fallback?: string): string | undefined {
    return this.#note(name, this.#raw(name) ?? this.#fromFile(name) ?? fallback, true)
  }

  integer(name: string, range: NumberRange): number {
    const raw = this.#raw(name)
    const value = wholeNumber(raw, range, (text) => this.fault(name, text))
    this.#note(name, value === undefined ? raw : String(value), false)
    return value ?? range.default
  }

  boolean(name: string, fallback: boolean): boolean {
    const raw = this.#raw(name)?.toLowerCase()
    if (raw !== undefined && raw !== 'true' && raw !== 'false')
      this.fault(name, `must be true or false, not ${JSON.stringify(raw)}`)
    const value = raw === undefined ? fallback : raw === 'true'
    this.#note(name, String(value), false)
    return value
  }

  /** One of a few words. */
  choice<const T extends string>(name: string, words: readonly T[], fallback: T): T
  choice<const T extends string>(name: string, words: readonly T[]): T | undefined
  choice<const T extends string>(name: string, words: readonly T[], fallback?: T): T | undefined {
    const raw = this.#raw(name)
    if (raw !== undefined && !words.includes(raw as T)) {
      this.fault(name, `must be one of ${words.join(', ')}, not ${JSON.stringify(raw)}`)
      this.#note(name, raw, false)
      return fallback
    }
    return this.#note(name, (raw as T | undefined) ?? fallback, false)
  }

  /** Words separated by commas. */
  list(name: string, fallback: string[]): string[] {
    const raw = this.#raw(name)
    const words =
      raw === undefined
        ? fallback
        : raw
            .split(',')
            .map((word) => word.trim())
            .filter(Boolean)
    this.#note(name, words.join(','), false)
    return words
  }

  /** `name=value` pairs of these names, separated by commas; a name may come several times. */
  pairs<const N extends string>(name: string, names: readonly N[], fallback: [N, string][] = []): [N, string][] {
    const raw = this.#raw(name)
    const pairs = raw === undefined ? fallback : raw.split(',').flatMap((pair) => this.#pair(name, names, pair))
    this.#note(name, pairs.map(([part, value]) => `${part}=${value}`).join(','), false)
    return pairs
  }

  /** A number for each of these names, from `name=number` pairs separated by commas; those that are left out have their default. */
  integers<const N extends string>(name: string, ranges: Record<N, NumberRange>): Record<N, number> {
    const names = Object.keys(ranges) as N[]
    const given = new Map(this.pairs(name, names))
    const numbers = names.map((part): [N, number] => {
      const raw = given.get(part)
      const fault = (text: string) => this.fault(`${name}: ${part}`, text)
      return [part, wholeNumber(raw, ranges[part], fault) ?? ranges[part].default]
    })
    this.#note(name, numbers.map(([part, value]) => `${part}=${value}`).join(','), false)
    return Object.fromEntries(numbers) as Record<N, number>
  }

  /** An address without a trailing slash. */
  url(name: string, fallback: string): string
  url(name: string, fallback?: string): string | undefined
  url(name: string, fallback?: string): string | undefined {
    const raw = this.#raw(name)
    if (raw !== undefined && !/^https?:$/.test(URL.parse(raw)?.protocol ?? ''))
      this.fault(name, `must be an address such as http://host:port, not ${JSON.stringify(raw)}`)
    return this.#note(name, (raw ?? fallback)?.replace(/\/+$/, ''), false)
  }

  /** Notes a fault that only the reader of the setting can see. */
  fault(name: string, text: string): void {
    const fault = `${name} ${text}`
    // Several parts may read the same setting.
    if (!this.#faults.includes(fault)) this.#faults.push(fault)
  }

  /** What the reads found so far, each beginning with the setting's name. */
  faults(): string[] {
    return [...this.#faults]
  }

  /** Throws a ConfigurationError when any read found a fault. */
  check(): void {
    if (this.#faults.length > 0) throw new ConfigurationError(this.#faults)
  }

  /** Every setting that was read, by name, secrets masked. */
  settings(): { name: string; value: string }[] {
    return [...this.#settings.values()]
      .toSorted((a, b) => a.name.localeCompare(b.name))
      .map(({ name, value, secret }) => ({ name, value: value === undefined ? '' : secret ? '******' : value }))
  }

  #raw(name: string): string | undefined {
    const value = this.#values[name]
    return value === undefined || value === '' ? undefined : value
  }

  #pair<N extends string>(name: string, names: readonly N[], pair: string): [N, string][] {
    const at = pair.indexOf('=')
    const [part, value] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    if (at > 0 && value !== '' && names.includes(part as N)) return [[part as N, value]]
    if (pair.trim() !== '')
      this.fault(name, `must be name=value of ${names.join(', ')}, not ${JSON.stringify(pair.trim())}`)
    return []
  }

  #fromFile(name: string): string | undefined {
    const path = this.#raw(`${name}_FILE`)
    if (path === undefined) return undefined
    try {
      return readFileSync(path, 'utf8').trim()
    } catch (error) {
      this.fault(`${name}_FILE`, `names ${path}, which can't be read: ${(error as NodeJS.ErrnoException).code}`)
      return undefined
    }
  }

  #note<T extends string | undefined>(name: string, value: T, secret: boolean): T {
    this.#settings.set(name, { name, value, secret })
    return value
  }
}

/** Undefined and a fault where the text is no whole number within the range. */
function wholeNumber(
  raw: string | undefined,
  { default: fallback, min = 0, max = Number.MAX_SAFE_INTEGER }: NumberRange,
  fault: (text: string) => void,
): number | undefined {
  const value = raw === undefined ? fallback : Number(raw)
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  fault(`must be a whole number from ${min} to ${max}, not ${JSON.stringify(raw)}`)
  return undefined
}

/** Whether nobody on the way can read or change what goes to an address: it has TLS, or is on this machine. */
export function isSafeAddress({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname))
}
