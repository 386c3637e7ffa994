import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import {
  chart,
  component,
  isThere,
  minimal,
  notes,
  podOf,
  render,
  renderText,
  selects,
  type Manifest,
} from '../charts/render.ts'

const trial = join(chart, 'ci/trial-values.yaml')
const servers = ['trial-kafka', 'trial-postgres', 'trial-s3']

const decoded = ({ data }: Manifest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(data as Record<string, string>).map(([name, value]) => [
      name,
      Buffer.from(value, 'base64').toString(),
    ]),
  )

// Without helm there is nothing to try; `npm run check` says so.
describe.runIf(isThere('helm'))('a trial', () => {
  let manifests: Manifest[]
  beforeAll(async () => {
    manifests = await render(trial)
  })
  const named = (kind: string, end: string) =>
    manifests.find((each) => each.kind === kind && each.metadata.name.endsWith(end))!
  const containerOf = (name: string) =>
    manifests
      .filter((each) => component(each) === name)
      .flatMap(podOf)
      .flatMap(({ containers }) => containers)[0]!

  test('brings one pod each of PostgreSQL, an S3 server and Kafka, of pinned images, within the restricted level', () => {
    const sets = manifests.filter((each) => each.kind === 'StatefulSet' && component(each)!.startsWith('trial-'))
    expect(sets.map((each) => component(each)!).toSorted()).toEqual(servers)
    for (const each of sets) {
      const spec = each['spec'] as { replicas: number; persistentVolumeClaimRetentionPolicy: { whenDeleted: string } }
      expect(spec).toMatchObject({ replicas: 1, persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' } })
      const [pod] = podOf(each) as unknown as { initContainers?: object[]; containers: object[] }[]
      for (const container of [...(pod!.initContainers ?? []), ...pod!.containers])
        expect(container).toMatchObject({
          image: expect.stringMatching(/:v?\d+\.\d+/) as string,
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        })
    }
  })

  test('is not held as the code of users is', () => {
    const { podSelector } = named('NetworkPolicy', '-user-code')['spec'] as { podSelector: object }
    for (const each of manifests.filter((manifest) => servers.includes(component(manifest)!)))
      expect(selects(podSelector, each.metadata.labels!)).toBe(false)
  })

  test('makes its passwords, another one each time, in one Secret that all who need them read', async () => {
    const secret = decoded(named('Secret', '-trial'))
    expect(secret['password']).toMatch(/^\w{32}$/)
    expect(new URL(secret['url']!)).toMatchObject({
      username: 'automation',
      password: secret['password'],
      hostname: 'release-process-automation-trial-postgres.automation.svc',
    })
    expect(secret['S3_SECRET_KEY']).toMatch(/^\w{32}$/)
    const again = (await render(trial)).find((each) => each.kind === 'Secret' && each.metadata.name.endsWith('-trial'))!
    expect(decoded(again)['password']).not.toBe(secret['password'])
    // No other object has one of them.
    const others = JSON.stringify(manifests.filter((each) => each !== named('Secret', '-trial')))
    for (const key of ['password', 'S3_SECRET_KEY']) expect(others).not.toContain(secret[key])
  })

  test('leads services to its servers: nothing else is to be given', () => {
    const execution = containerOf('execution').env
    expect(execution).toContainEqual({
      name: 'KAFKA_BROKERS',
      value: 'release-process-automation-trial-kafka.automation.svc:9092',
    })
    const storage = containerOf('storage').env
    expect(storage).toContainEqual({
      name: 'S3_ENDPOINT',
      value: 'http://release-process-automation-trial-s3.automation.svc:9000',
    })
    const properties = (named('ConfigMap', '-trial-kafka')['data'] as Record<string, string>)['server.properties']
    expect(properties).toContain(
      'advertised.listeners=CLIENT://release-process-automation-trial-kafka.automation.svc:9092',
    )
  })

  test('has no hook that waits for a database which is not there yet: services bring it up to date as they start', () => {
    const early = manifests.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']?.includes('pre-'))
    expect(early).toEqual([])
  })

  test('lets in who needs each server, and lets none of them out', () => {
    for (const [name, callers, port] of [
      ['trial-postgres', ['process-catalog', 'execution', 'scheduler', 'storage', 'sandbox'], 5432],
      ['trial-s3', ['storage'], 9000],
      ['trial-kafka', ['execution'], 9092],
    ] as const) {
      const policy = named('NetworkPolicy', name)['spec'] as {
        policyTypes: string[]
        egress: object[]
        ingress: { from: { podSelector: { matchLabels: Record<string, string> } }[]; ports: object[] }[]
      }
      expect(policy.policyTypes).toEqual(['Ingress', 'Egress'])
      expect(policy.egress).toEqual([])
      expect(policy.ingress).toHaveLength(1)
      expect(policy.ingress[0]!.ports).toEqual([{ port: 'server', protocol: 'TCP' }])
      const from = policy.ingress[0]!.from.map(
        ({ podSelector }) => podSelector.matchLabels['app.kubernetes.io/component'],
      )
      expect(from).toEqual(callers)
      const ports = (containerOf(name) as unknown as { ports: object[] }).ports
      expect(ports).toEqual([{ name: 'server', containerPort: port }])
    }
  })

  test.runIf(isThere('helm3'))('is the same for Helm 3', async () => {
    // What is generated differs.
    const objectsOf = async (helm: string) =>
      parseAllDocuments(await renderText(trial, [], helm, ['--kube-version', '1.31.0']))
        .flatMap((document) => (document.toJS() as Manifest | null) ?? [])
        .map((each) =>
          each.kind === 'Secret'
            ? { ...each, data: Object.keys((each['data'] ?? each['stringData']) as object), stringData: undefined }
            : each,
        )
        .toSorted((a, b) => `${a.kind} ${a.metadata.name}`.localeCompare(`${b.kind} ${b.metadata.name}`))
    expect(await objectsOf('helm3')).toEqual(await objectsOf('helm'))
  })

  test('is off unless asked for, and stands beside no server of yours', async () => {
    expect(await renderText(minimal)).not.toContain('trial-postgres')
    await expect(render(minimal, ['trial.enabled=true'])).rejects.toThrow(/leave database, objectStore and kafka empty/)
  })

  test('says that it is not for production when it is installed', async () => {
    expect(await notes(trial)).toContain('NOT FOR PRODUCTION')
  })
})
