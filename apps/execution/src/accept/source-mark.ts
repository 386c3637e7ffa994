import { createHash } from 'node:crypto'
import type { RunSpec } from '@automation/contract/catalog/v1/resolve'

const marks = new WeakMap<RunSpec, bigint>()

/** Names the source of a spec with its modules: equal for equal ones, whatever they belong to. */
export function sourceMarkOf(spec: RunSpec): bigint {
  let mark = marks.get(spec)
  if (mark === undefined) {
    const modules = spec.modules.map(({ name, tag, team, sourceCode }) => [name, tag, team, sourceCode])
    const digest = createHash('sha256')
      .update(JSON.stringify([spec.language, spec.sourceCode, modules]))
      .digest()
    mark = digest.readBigInt64BE()
    marks.set(spec, mark)
  }
  return mark
}
