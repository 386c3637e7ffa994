import { waitUntil } from '../system/wait-until.ts'
import { must, run } from './commands.ts'

const kinds = ['pods', 'secrets', 'configmaps', 'persistentvolumeclaims', 'services', 'networkpolicies', 'leases']

interface Objects {
  items: { kind: string; metadata: { name: string } }[]
}

/** Kind and name of each object of these namespaces, of the cluster that a file names, in which one of these texts stands. */
export async function objectsNaming(
  { kubeconfig, namespaces }: { kubeconfig: string; namespaces: readonly string[] },
  texts: readonly string[],
): Promise<string[]> {
  const items = await inEach(namespaces, async (namespace) => {
    const where = ['--kubeconfig', kubeconfig, '--namespace', namespace]
    return (JSON.parse(await must('kubectl', ['get', kinds.join(), ...where, '-o', 'json'])) as Objects).items
  })
  const naming = items.filter((item) => texts.some((text) => JSON.stringify(item).includes(text)))
  return naming.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
}

/** What there is in each of these namespaces, together. */
export async function inEach<T>(
  namespaces: readonly string[],
  read: (namespace: string) => Promise<T[]>,
): Promise<T[]> {
  return (await Promise.all(namespaces.map(read))).flat()
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

/** Waits until there is nothing left, or throws with what is. */
export async function untilGone(left: () => Promise<string[]>, timeoutMs: number): Promise<void> {
  const empty = async () => (await left()).length === 0
  await waitUntil('everything to be gone', empty, { timeoutMs, everyMs: 500 }).catch(async () => {
    throw new Error(`left over: ${(await left()).join(', ')}`)
  })
}

/** For a failure: what the cluster says of a release, and the last lines of each service. */
export async function lastWordsOf(namespace: string): Promise<string> {
  const events = await run('kubectl', ['get', 'events', '--namespace', namespace, '--sort-by=.lastTimestamp'])
  const pods = await run('kubectl', ['get', 'pods', '--namespace', namespace, '-o', 'wide'])
  const logs = await logsOf(namespace, '--tail=15')
  return [pods.stdout, events.stdout.split('\n').slice(-30).join('\n'), logs].join('\n')
}

/** Lines of all pods of a release, each behind the name of its pod. */
export async function logsOf(namespace: string, ...which: string[]): Promise<string> {
  const selector = ['-l', 'app.kubernetes.io/part-of=process-automation', '--all-containers', '--prefix']
  return (await run('kubectl', ['logs', '--namespace', namespace, ...selector, '--max-log-requests=40', ...which]))
    .stdout
}
