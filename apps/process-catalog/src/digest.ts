import { createHash } from 'node:crypto'

/** What a warm child keeps between runs. */
export interface DigestedSource {
  processId: string
  versionId: string | null
  language: string
  sourceCode: string
}

/** SHA-256 in hex; equal for equal sources only, as the first three fields can't contain the separator. */
export function sourceDigest({ processId, versionId, language, sourceCode }: DigestedSource): string {
  return createHash('sha256')
    .update(`${processId}\n${versionId ?? 'current'}\n${language}\n${sourceCode}`)
    .digest('hex')
}
