import { createHash } from 'node:crypto'

/** What a warm child keeps between runs. */
export interface DigestedSource {
  processId: string
  versionId: string | null
  language: string
  sourceCode: string
  /** What its modules are, as text. */
  modules: string
}

/** SHA-256 in hex; equal for equal sources and modules only, as the first four fields can't contain the separator. */
export function sourceDigest({ processId, versionId, language, sourceCode, modules }: DigestedSource): string {
  return createHash('sha256')
    .update(`${processId}\n${versionId ?? 'current'}\n${language}\n${sourceCode.length}\n${sourceCode}${modules}`)
    .digest('hex')
}
