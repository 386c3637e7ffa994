const shifts = Uint8Array.of(7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21)
const sines = Int32Array.from({ length: 64 }, (_, n) => Math.floor(Math.abs(Math.sin(n + 1)) * 2 ** 32))
/** Which word of its block each step takes. */
const words = Uint8Array.from({ length: 64 }, (_, n) => [n, 5 * n + 1, 3 * n + 5, 7 * n][n >> 4]! % 16)
const blockBytes = 64

/** MD5 in hexadecimal (RFC 1321): the service tells parts by it, and Web Crypto has none. Not for secrets. */
export function md5(bytes: Uint8Array): string {
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476)
  const rest = bytes.length % blockBytes
  const last = new Uint8Array(rest < blockBytes - 8 ? blockBytes : 2 * blockBytes)
  last.set(bytes.subarray(bytes.length - rest))
  last[rest] = 0x80
  new DataView(last.buffer).setBigUint64(last.length - 8, BigInt(bytes.length) * 8n, true)
  for (const blocks of [bytes.subarray(0, bytes.length - rest), last]) {
    const view = new DataView(blocks.buffer, blocks.byteOffset, blocks.length)
    for (let at = 0; at < blocks.length; at += blockBytes) mix(state, view, at)
  }
  return [...new Uint8Array(state.buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function mix(state: Int32Array, view: DataView, at: number): void {
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  for (let n = 0; n < 64; n += 1) {
    const mixed = n < 16 ? (b & c) | (~b & d) : n < 32 ? (d & b) | (~d & c) : n < 48 ? b ^ c ^ d : c ^ (b | ~d)
    const sum = (a + mixed + sines[n]! + view.getInt32(at + 4 * words[n]!, true)) | 0
    const by = shifts[((n >> 4) << 2) | (n & 3)]!
    a = d
    d = c
    c = b
    b = (b + ((sum << by) | (sum >>> (32 - by)))) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
}
