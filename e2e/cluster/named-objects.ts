import { must } from './commands.ts'

const kinds = ['pods', 'secrets', 'configmaps', 'persistentvolumeclaims', 'services', 'networkpolicies', 'leases']

interface Objects {
  items: { kind: string; metadata: { name: string } }[]
}

/** Kind and name of each object of a namespace in which one of these texts stands. */
export async function objectsNaming(namespace: string, texts: readonly string[]): Promise<string[]> {
  const { items } = JSON.parse(await must('kubectl', ['get', kinds.join(), '-n', namespace, '-o', 'json'])) as Objects
  const naming = items.filter((item) => texts.some((text) => JSON.stringify(item).includes(text)))
  return naming.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
}
