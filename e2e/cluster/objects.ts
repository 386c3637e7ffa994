import { must } from './commands.ts'

const kinds = ['pods', 'secrets', 'configmaps', 'persistentvolumeclaims', 'services', 'networkpolicies', 'leases']

interface Objects {
  items: { kind: string; metadata: { name: string } }[]
}

/** Kind and name of each object of a namespace, of the cluster that a file names, in which one of these texts stands. */
export async function objectsNaming(
  { kubeconfig, namespace }: { kubeconfig: string; namespace: string },
  texts: readonly string[],
): Promise<string[]> {
  const where = ['--kubeconfig', kubeconfig, '--namespace', namespace]
  const { items } = JSON.parse(await must('kubectl', ['get', kinds.join(), ...where, '-o', 'json'])) as Objects
  const naming = items.filter((item) => texts.some((text) => JSON.stringify(item).includes(text)))
  return naming.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
}

/** What is in a namespace, of whatever kind, but for what every namespace has and what was told of it. */
export async function objectsIn(namespace: string): Promise<string[]> {
  const known = await must('kubectl', ['api-resources', '--namespaced', '--verbs=list,delete', '-o', 'name'])
  const all = known.split('\n').filter((kind) => kind !== '' && !kind.startsWith('events'))
  const text = await must('kubectl', ['get', all.join(), '--namespace', namespace, '-o', 'name', '--ignore-not-found'])
  const always = ['configmap/kube-root-ca.crt', 'serviceaccount/default']
  return text.split('\n').filter((line) => line !== '' && !always.includes(line))
}

/** An entry of one of the Secrets of a release: the first that has it, or that whose name ends so. */
export async function secretIn(namespace: string, key: string, end = ''): Promise<string> {
  const selector = ['-l', 'app.kubernetes.io/part-of=process-automation']
  const text = await must('kubectl', ['get', 'secrets', '--namespace', namespace, ...selector, '-o', 'json'])
  const { items } = JSON.parse(text) as { items: { metadata: { name: string }; data?: Record<string, string> }[] }
  const found = items.find(({ metadata, data }) => metadata.name.endsWith(end) && data?.[key] !== undefined)
  const value = found?.data?.[key]
  if (value === undefined) throw new Error(`the release has no ${key}`)
  return Buffer.from(value, 'base64').toString('utf8')
}

/** A namespace that admits restricted pods only. */
export async function makeNamespace(namespace: string): Promise<void> {
  await must('kubectl', ['create', 'namespace', namespace])
  await must('kubectl', ['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted'])
}
