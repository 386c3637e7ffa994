import { Contract, pointerOf } from './contract.ts'
import type { Document } from './document.ts'

/** What is wrong with the examples of a document's bodies: those that are missing, and those that break their schemas. */
export function exampleFaults(document: Document): string[] {
  const contract = new Contract(document)
  return bodiesOf(document).flatMap(({ at, example }) => {
    if (example === undefined) return [`${at.join(' ')} has no example`]
    return contract.faultsOfValue(pointerOf([...at, 'schema']), example).map((fault) => `${at.join(' ')}: ${fault}`)
  })
}

/** Every body that the document describes, with where it stands. */
export function bodiesOf({ paths, components }: Document): { at: string[]; schema: unknown; example: unknown }[] {
  const shared = Object.entries(components['responses'] ?? {}).map(([name, response]) => ({
    at: ['components', 'responses', name],
    described: response as { content?: Content },
  }))
  const own = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody, responses }]) => [
      { at: ['paths', path, method, 'requestBody'], described: requestBody },
      ...Object.entries(responses).map(([status, described]) => ({
        at: ['paths', path, method, 'responses', status],
        described,
      })),
    ]),
  )
  return [...shared, ...own].flatMap(({ at, described }) =>
    Object.entries(described?.content ?? {}).map(([type, { schema, example }]) => ({
      at: [...at, 'content', type],
      schema,
      example,
    })),
  )
}

type Content = Record<string, { schema?: unknown; example?: unknown }>
