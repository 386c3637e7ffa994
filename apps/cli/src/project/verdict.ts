/** What is known of an item here, on the server and before both. Digests are those of states. */
export interface Compared {
  local?: string
  remote?: string
  /** Whether all that the server has of it is part of what the files were made from. */
  isKnown: boolean
  /** The state that both sides have come from, as far as it is known. */
  base?: string
  /** Whether the files of this history once had it, or this checkout has seen it on the server. */
  wasHere: boolean
}

/**
 * What is to be done about an item:
 * `same`: nothing; `create`, `update`: push writes it; `delete`: it was removed here, push removes it with --prune;
 * `theirs`: changed on the server alone, pull takes it; `new`: only on the server, and never here; `gone`: removed on the
 * server, pull removes it here; `clash`: changed on both sides.
 */
export type Verdict = 'same' | 'create' | 'update' | 'delete' | 'theirs' | 'new' | 'gone' | 'clash'

/** Decides what is to be done about an item that is here or on the server. */
export function decide({ local, remote, isKnown, base, wasHere }: Compared): Verdict {
  if (local === remote) return 'same'
  if (remote === undefined) {
    if (base === undefined) return 'create'
    return base === local ? 'gone' : 'clash'
  }
  if (local === undefined) {
    if (isKnown) return 'delete'
    return wasHere ? 'clash' : 'new'
  }
  if (isKnown) return 'update'
  return base === local ? 'theirs' : 'clash'
}
