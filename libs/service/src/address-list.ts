import { isIP } from 'node:net'

/** Addresses that begin with the same bits. */
interface Range {
  first: bigint
  /** 32 of IPv4, 128 of IPv6. */
  width: number
  /** How many of them count. */
  bits: number
}

/** Addresses and ranges of them (CIDRs), of IPv4 and IPv6. An IPv4 address that is written as one of IPv6 counts as IPv4. */
export class AddressList {
  readonly #ranges: Range[]

  /** What is no address and no range holds nothing. */
  constructor(entries: readonly string[]) {
    this.#ranges = entries.map(rangeOf).filter((range) => range !== undefined)
  }

  /** Whether it holds this address; of IPv6 also one with a zone. */
  has(address: string): boolean {
    const [plain = ''] = address.split('%')
    const asked = numberOf(plain)
    return asked !== undefined && this.#ranges.some((range) => holds(range, asked))
  }
}

/** Whether a text is an address without a zone, or such a range. */
export function isAddressRange(text: string): boolean {
  return rangeOf(text) !== undefined
}

function rangeOf(text: string): Range | undefined {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const number = numberOf(address)
  if (number === undefined) return undefined
  const { value, width } = number
  const isWrittenLonger = width === 32 && isIP(address) === 6
  const bits = prefix === undefined ? width : Number(prefix) - (isWrittenLonger ? 96 : 0)
  return bits < 0 || bits > width ? undefined : { first: value, width, bits }
}

function holds({ first, width, bits }: Range, asked: { value: bigint; width: number }): boolean {
  return asked.width === width && (asked.value ^ first) >> BigInt(width - bits) === 0n
}

/** An address as a number of so many bits. */
function numberOf(address: string): { value: bigint; width: number } | undefined {
  const family = isIP(address)
  if (family === 4) return { value: joined(address.split('.').map(Number), 8n), width: 32 }
  if (family === 0 || address.includes('%')) return undefined
  const [head = '', tail = ''] = address.split('::')
  const [before, after] = [groupsOf(head), groupsOf(tail)]
  const between = Array.from({ length: 8 - before.length - after.length }, () => 0)
  const value = joined([...before, ...between, ...after], 16n)
  return value >> 32n === 0xffffn ? { value: value & 0xffffffffn, width: 32 } : { value, width: 128 }
}

/** Numbers of a part of an IPv6 address; an IPv4 address at its end counts as two. */
function groupsOf(part: string): number[] {
  if (part === '') return []
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [parseInt(group, 16)]
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  })
}

function joined(parts: number[], bits: bigint): bigint {
  return parts.reduce((value, part) => (value << bits) | BigInt(part), 0n)
}
