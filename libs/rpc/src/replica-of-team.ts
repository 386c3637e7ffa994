/** Calls of this process that are on their way to a replica. */
export interface Load {
  calls: number
  /** How long none of them was answered. */
  silentMs: number
}

/** So many calls make no replica busy, nor do those of a mean load. */
const fewCalls = 64
const mostOfMean = 1.25
/** Most calls take less, but for those that wait for a run. */
const patienceMs = 3000

/**
 * Replicas, as indices, in the order in which calls for a team go to them: the first one that can be had is taken. It is
 * the same for all who know the same addresses (rendezvous hashing): a replica that comes or goes changes the first one of
 * no teams but its own. Those come last that have many calls on their way, and more than others, or answer none.
 */
export function replicasFor(team: string, addresses: readonly string[], loads: readonly Load[]): number[] {
  const scores = addresses.map((address) => scoreOf(`${address} ${team}`))
  const mean = (loads.reduce((sum, { calls }) => sum + calls, 0) + 1) / addresses.length
  const isBusy = (at: number) => {
    const { calls, silentMs } = loads[at]!
    return calls >= Math.max(fewCalls, mean * mostOfMean) || (calls > 0 && silentMs > patienceMs)
  }
  return [...addresses.keys()].toSorted((a, b) => Number(isBusy(a)) - Number(isBusy(b)) || scores[b]! - scores[a]!)
}

/** FNV-1a, and the last step of MurmurHash3, without which texts that differ at their ends have scores in the same order. */
function scoreOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
