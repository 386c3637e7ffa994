import type { DocumentJson } from './document-json.ts'

const PROBLEM = 'application/problem+json'

/**
 * Moves refusals to the components, where most operations share them; a name is the status and the codes. Those that may
 * also be the answer of a process stay where they are.
 */
export function shareRefusals({ paths, components }: DocumentJson): void {
  const shared = (components.responses ??= {})
  for (const { responses } of Object.values(paths).flatMap((methods) => Object.values(methods)))
    for (const [status, response] of Object.entries(responses)) {
      const codes = response.content?.[PROBLEM]?.schema?.allOf?.[1]?.properties?.['code']?.enum
      if (codes === undefined || Object.keys(response.content ?? {}).length > 1) continue
      const name = [status, ...codes].join('.')
      shared[name] ??= response
      responses[status] = { $ref: `#/components/responses/${name}` }
    }
}
