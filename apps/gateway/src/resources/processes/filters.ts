import { z } from '@hono/zod-openapi'
import { text } from '../../rest/fields.ts'
import { pagingFields } from '../../rest/parameters.ts'

const tags = z
  .union([text(), z.array(text())])
  .optional()
  // A tag may have a comma itself.
  .transform((value) => [
    ...new Set(
      [value ?? []]
        .flat()
        .filter((given) => /[^,\s]/.test(given))
        .flatMap((given) => [given, ...given.split(',').map((tag) => tag.trim())])
        .filter(Boolean),
    ),
  ])
  .openapi({ type: 'array', items: { type: 'string' }, description: 'Repeated or comma-joined; any of them matches' })

/** Which processes a list has, and which page of it. */
export const processFilters = z.object({
  keywords: text().optional().openapi({ description: 'Part of the name or the description, in any case' }),
  tags,
  ...pagingFields,
})

/** The same as the catalog knows it. */
export function filtersFrom({ keywords, tags: anyOf, page, limit }: z.output<typeof processFilters>) {
  return { page: { page, limit }, keywords: keywords ?? '', tags: anyOf }
}
