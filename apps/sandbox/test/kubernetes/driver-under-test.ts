import { randomUUID } from 'node:crypto'
import { silentLogger } from '@automation/testing'
import { newApiKey, newSecret } from '../../src/api-key.ts'
import { Catalogue, type Image } from '../../src/catalogue.ts'
import { grpcDaemons } from '../../src/drivers/daemons.ts'
import type { SandboxOrder } from '../../src/drivers/driver.ts'
import { KubernetesDriver, type KubernetesDriverOptions } from '../../src/drivers/kubernetes/kubernetes-driver.ts'
import type { ClusterUnderTest } from './cluster-under-test.ts'

/** Images that the cluster has: one that carries the daemon, and one that carries it to others. */
export const baseImage = process.env['SANDBOX_BASE_IMAGE'] ?? ''
export const daemonImage = process.env['SANDBOX_DAEMON_IMAGE'] ?? ''

const absent = ['KUBECONFIG', 'SANDBOX_BASE_IMAGE', 'SANDBOX_DAEMON_IMAGE'].filter((name) => !process.env[name])

/** Why tests of the driver can't be run here; undefined where they can. */
export const lacking =
  absent.length === 0 ? undefined : `set ${absent.join(', ')} to test the Kubernetes driver: see CONTRIBUTING.md`

const daemonCommand = [
  '/automation/lib/loader',
  '--library-path',
  '/automation/lib',
  '/automation/bin/node',
  '/automation/apps/sandbox-daemon/src/main.ts',
]

export const carrying: Image = {
  id: 'carrying',
  image: baseImage,
  command: daemonCommand,
  memoryMb: 256,
  warm: 0,
}

/** The same image, as if it knew nothing of the daemon. */
export const plain: Image = { id: 'plain', image: baseImage, memoryMb: 256, warm: 0 }

/** A driver on the cluster's namespace. */
export function driverOn(
  { api, namespace }: ClusterUnderTest,
  images: Image[],
  more: Partial<KubernetesDriverOptions> = {},
): KubernetesDriver {
  return new KubernetesDriver({
    config: {
      namespace,
      instance: 'test',
      daemonImage,
      homeMb: 64,
      placement: {},
      metadata: {},
      fixedIds: true,
      runAsUser: 1000,
      pullSecrets: [],
    },
    catalogue: new Catalogue(images, true),
    encryptionKeys: ['for these tests alone'],
    startTimeoutMs: 30_000,
    daemons: grpcDaemons,
    logger: silentLogger,
    open: async () => api,
    ...more,
  })
}

export function orderOf(image: Image): SandboxOrder {
  const id = randomUUID()
  return { id, team: 'demo', image, daemonKey: newSecret(), grpcApiKey: newApiKey(id) }
}
