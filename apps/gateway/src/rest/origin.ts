import type { Origin } from '@automation/contract/common/v1/origin'
import { z } from '@hono/zod-openapi'
import { int32, optionalText } from './fields.ts'

/** Where a source comes from, as its writer says. */
export const originInput = z
  .object({
    repository: optionalText().openapi({
      description: 'Such as the address of a repository; what it has of credentials is left out',
    }),
    commit: optionalText(),
    digest: optionalText().openapi({ description: 'Of the files, as the writer makes them' }),
  })
  .openapi({ title: 'OriginInput' })
  .nullish()
  .openapi({ description: 'Where the source comes from. A write that does not name it clears it' })

/** The fields that tell a checkout of a record whether it is the same. `digest` says of what the digest is made. */
export const described = (digest: string) => ({
  revision: int32().openapi({ minimum: 0, description: 'Rises with each edit of the record' }),
  sourceDigest: z.string().openapi({ description: digest }),
  origin: z
    .object({
      repository: z.string().optional(),
      commit: z.string().optional(),
      digest: z.string().optional(),
    })
    .openapi({ title: 'Origin' })
    .optional()
    .openapi({ description: 'Where the last writer says that the source comes from' }),
})

/** The digests of the states before; `digest` says of what one is made. */
export const previousStates = (digest: string) =>
  z
    .array(z.string())
    .max(32)
    .optional()
    .openapi({
      description: `Digests of the states that it had before this one, the newest first, at most 32; absent where there are none. Each is ${digest}`,
    })

/** What a record shows of them. */
export const presentStates = (digests: string[]) => (digests.length === 0 ? undefined : digests)

/** How a digest is made of the values at these paths of a record. */
export function digestText(paths: readonly string[]): string {
  return (
    'SHA-256, in lower-case hexadecimal, of a JSON object in UTF-8 that is written as RFC 8785 says (no blanks, members ' +
    'sorted by name). Its members are named by paths into the record and have the values there, or null where there is ' +
    `none: ${paths.map((path) => `\`${path}\``).join(', ')}`
  )
}

/** The fields of `described`. */
export function presentDescription({
  revision,
  sourceDigest,
  origin,
}: {
  revision: number
  sourceDigest: string
  origin?: Origin | undefined
}) {
  const { repository, commit, digest } = origin ?? {}
  return { revision, sourceDigest, origin: origin && { repository, commit, digest } }
}
