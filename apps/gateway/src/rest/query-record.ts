import { formPairs } from '../http/form-pairs.ts'

/** A query as names and values; a repeated name has all its values. Names like `__proto__` are names like others. */
export type QueryRecord = Record<string, string | string[]>

/** The same of a query where `tags[]=a` stands for `tags=a`, as some clients write lists. */
export function listedQueryRecord(query: string): QueryRecord {
  const record = queryRecord(query)
  if (!('tags[]' in record)) return record
  const { 'tags[]': listed, ...others } = record
  return { ...others, tags: [others['tags'] ?? [], listed ?? []].flat() }
}

/** Reads an encoded query (without the question mark) or form. Failure: too_many_fields. */
export function queryRecord(query: string): QueryRecord {
  const record = Object.create(null) as QueryRecord
  if (query === '') return record
  formPairs(query, (name, value) => {
    const known = record[name]
    if (known === undefined) record[name] = value
    else if (typeof known === 'string') record[name] = [known, value]
    else known.push(value)
  })
  return record
}
