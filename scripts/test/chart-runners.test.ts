import { describe, expect, test } from 'vitest'
import {
  component,
  isThere,
  minimal,
  notes,
  podOf,
  podSettings,
  render,
  secretsOf,
  type Manifest,
} from '../charts/render.ts'

const authorities = 'certificateAuthorities.existingConfigMap=mine'
const path = '/etc/automation-authorities/ca.crt'
const deployed = ['runners.kind=deployment', 'runners.pools.large.slots=1']

const runnersOf = (manifests: Manifest[]) =>
  manifests.filter((each) => component(each)?.startsWith('runner')).flatMap((each) => podOf(each))
const onDemand = (manifests: Manifest[]) =>
  (podSettings(manifests) as { runners: { settings: object; volumes?: object[]; volumeMounts?: object[] } }).runners

// Without helm there is nothing to try; `npm run check` says so.
describe.runIf(isThere('helm'))('runners', () => {
  test('trust private authorities for packages, in a Deployment and on demand', async () => {
    const pods = runnersOf(await render(minimal, [...deployed, authorities]))
    expect(pods).toHaveLength(2)
    for (const { volumes, containers } of pods) {
      expect(volumes).toContainEqual({ name: 'authorities', configMap: { name: 'mine' } })
      expect(containers[0]!.env).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: path })
    }
    expect(onDemand(await render(minimal, [authorities, 'sandbox.namespace=automation']))).toMatchObject({
      settings: { NODE_EXTRA_CA_CERTS: path },
      volumes: [{ name: 'authorities', configMap: { name: 'mine' } }],
      volumeMounts: [{ name: 'authorities', mountPath: '/etc/automation-authorities' }],
    })
  })

  test('have registries with their tokens as files of a Secret, in a Deployment, a pool, a cell and on demand', async () => {
    const sets = ['runners.existingSecret=registries', 'runners.secrets[0]=NPM_REGISTRY']
    const pods = runnersOf(await render(minimal, [...sets, ...deployed, 'cells.blue.existingSecret=blue']))
    expect(pods).toHaveLength(3)
    for (const pod of pods) {
      expect(secretsOf(pod)).toContainEqual({
        name: 'registries',
        items: [{ key: 'NPM_REGISTRY', path: 'NPM_REGISTRY' }],
      })
      const files = pod.containers[0]!.env.filter(({ name }) => name.endsWith('_FILE'))
      expect(files.map(({ name }) => name)).toEqual(['RUNNER_KEY_FILE', 'NPM_REGISTRY_FILE'])
    }
    const made = await render(minimal, sets)
    expect(onDemand(made)).toMatchObject({ secret: { name: 'registries', settings: ['NPM_REGISTRY'] } })
    expect(onDemand(await render(minimal, sets.slice(0, 1)))).toMatchObject({
      secret: { settings: ['NPM_REGISTRY', 'PYPI_INDEX_URL'] },
    })
    const services = made.filter((each) => each.kind === 'Deployment')
    expect(services.length).toBeGreaterThan(3)
    expect(JSON.stringify(services)).not.toContain('registries')
    expect(await notes(minimal, sets)).toContain('the Secret registries (runners.existingSecret)')
  })

  test('and sandboxes that are made on demand are the user that the operator names, as pods of services are', async () => {
    expect(podSettings(await render(minimal, ['podSecurity.runAsUser=2345']))).toMatchObject({ runAsUser: 2345 })
  })

  test('on demand ask for what else their resources say: disk, devices', async () => {
    const sets = ['requests.ephemeral-storage=9Gi', 'limits.example\\.com/gpu=1'].map(
      (set) => `runners.resources.${set}`,
    )
    expect(onDemand(await render(minimal, sets))).toMatchObject({
      cpu: '250m',
      resources: { requests: { 'ephemeral-storage': '9Gi' }, limits: { 'example.com/gpu': '1' } },
    })
    expect(onDemand(await render(minimal))).not.toHaveProperty('resources')
  })

  test('on demand in a namespace of their own have the ConfigMap that is named there, and wait for none that is not', async () => {
    const apart = [authorities, 'sandbox.namespace=boxes']
    for (const sets of [[authorities], apart]) {
      const without = onDemand(await render(minimal, sets))
      expect(without).not.toHaveProperty('volumes')
      expect(without.settings).not.toHaveProperty('NODE_EXTRA_CA_CERTS')
    }
    const named = onDemand(await render(minimal, [...apart, 'certificateAuthorities.runnersConfigMap=there']))
    expect(named.volumes).toEqual([{ name: 'authorities', configMap: { name: 'there' } }])
  })
})
