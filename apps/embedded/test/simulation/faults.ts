import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A mistake in a real part, made on purpose: a world must notice it. */
export interface Fault {
  name: string
  /** From `apps`. */
  file: string
  from: string
  to: string
}

export const faults: Fault[] = [
  {
    name: 'an end does not look at the status',
    file: 'execution/src/store/end-rows.ts',
    from: 'AND e.session_id = i.session_id AND e.status = ${running}',
    to: 'AND e.session_id = i.session_id',
  },
  {
    name: 'slots are not given back',
    file: 'execution/src/store/end-rows.ts',
    from: 'SET running = t.running - c.held',
    to: 'SET running = t.running',
  },
  {
    name: 'events are read above the horizon',
    file: 'execution/src/store/outbox.ts',
    from: 'pg_snapshot_xmin(pg_current_snapshot())',
    to: 'pg_snapshot_xmax(pg_current_snapshot())',
  },
  {
    name: 'a claim is read back without its fence',
    file: 'execution/src/store/claim-rows.ts',
    from: 'AND e.fence = $2`',
    to: 'AND $2::bigint IS NOT NULL`',
  },
  {
    name: 'a firing is known by the clock of who asks',
    file: 'execution/src/rpc/start-requests.ts',
    from: 'key: String(nominalTimeMs)',
    to: 'key: `${nominalTimeMs} ${Date.now()}`',
  },
]

/** Makes the mistake in what this process loads from now on. Throws where the part no longer has what it changes. */
export function makeFault(name: string): void {
  const fault = faults.find((one) => one.name === name)
  if (fault === undefined) throw new Error(`There is no fault "${name}"`)
  const path = join(import.meta.dirname, '../../..', fault.file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(fault.from)) throw new Error(`${fault.file} has no "${fault.from}" any more`)
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      if (!url.startsWith('file:') || fileURLToPath(url) !== path) return loaded
      return { ...loaded, source: text.replace(fault.from, () => fault.to) }
    },
  })
}

if (process.env['SIMULATION_FAULT'] !== undefined) makeFault(process.env['SIMULATION_FAULT'])
