import { inject } from 'vitest'
import { Client } from '../client/client.ts'
import { Contract } from '../contract/contract.ts'
import type { OutsideIssuer } from './outside-issuer.ts'

export interface TeamAccess {
  team: string
  apiToken: string
  accessToken: string
}

/** What an operator of a system has. */
export interface Operator {
  /** What the admin command line takes to find it, and where its S3 server, its brokers and its pods are, if it has any. */
  env: Record<string, string>
  databaseUrl: string
}

/** What the global set-up tells every test file. */
export interface SharedSystem {
  host: string
  /** Whether the suite started it, so that its settings are known. */
  owned: boolean
  /** Of one that the suite started: its folder, and what the admin command line takes to find it. */
  own?: { dataDir: string; env: Record<string, string> }
  /** What the suite may do as the operator; absent on a running system that named nothing. */
  operator?: Operator
  /** What a run may have. */
  runMemoryMb: number
  main: TeamAccess
  /** A second team; absent on a running system that named none. */
  other?: TeamAccess
  /** An outside issuer whose tokens it accepts. */
  issuer?: OutsideIssuer
}

declare module 'vitest' {
  interface ProvidedContext {
    system: SharedSystem
  }
}

/** The system under test. */
export const shared = inject('system')

/** Its OpenAPI document: every answer to these clients is held against it. */
export const contract = await Contract.of(shared.host)

/** A client of the suite's team. */
export const client = new Client({ host: shared.host, ...shared.main }, contract)

/** A client of the second team; tests that need it are skipped where there is none (`hasOther`). */
export const other = new Client({ host: shared.host, ...(shared.other ?? shared.main) }, contract)
export const hasOther = shared.other !== undefined

let count = 0

/** A name that no other test of any run uses; URL-safe. */
export function unique(prefix = 'e2e'): string {
  count += 1
  return `${prefix}-${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}${count}`
}
