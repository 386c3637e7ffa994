import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { V1Pod } from '@kubernetes/client-node'
import { silentLogger, until } from '@automation/testing'
import { FaultProxy } from '@automation/testing/fault-proxy'
import { openCluster, type ClusterApi } from '../../src/cluster/api.ts'
import { Pods } from '../../src/cluster/pods.ts'

/** Whether the environment names a cluster; tests of it are skipped otherwise. */
export const hasCluster = Boolean(process.env['KUBECONFIG'])

/** A namespace of its own on the cluster that KUBECONFIG names. */
export class ClusterUnderTest {
  readonly api: ClusterApi
  readonly namespace: string
  readonly labels = { 'app.kubernetes.io/part-of': 'process-automation' }

  private constructor(api: ClusterApi, namespace: string) {
    this.api = api
    this.namespace = namespace
  }

  static async open(name = 'sandbox-test'): Promise<ClusterUnderTest> {
    const api = await openCluster()
    const namespace = `${name}-${randomBytes(4).toString('hex')}`
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await api.core.createNamespace({ body: { metadata: { name: namespace, labels } } })
    // Without it no pod is admitted.
    await until(
      () =>
        api.core.readNamespacedServiceAccount({ name: 'default', namespace }).then(
          () => true,
          () => false,
        ),
      { what: 'the service account of the namespace' },
    )
    return new ClusterUnderTest(api, namespace)
  }

  pods(api = this.api, owner?: string): Pods {
    return new Pods({ api, namespace: this.namespace, labels: this.labels, owner, logger: silentLogger })
  }

  /** One that runs a program of an image, as the restricted policy lets it. */
  plainPod(name: string, image: string, command: string[], limits: Record<string, string> = { memory: '64Mi' }): V1Pod {
    return {
      metadata: { name },
      spec: {
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            name: 'main',
            image,
            command,
            resources: { limits },
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          },
        ],
      },
    }
  }

  async close(): Promise<void> {
    await this.api.core.deleteNamespace({ name: this.namespace })
  }
}

/** The cluster's API behind a proxy that can be closed. */
export async function behindProxy(): Promise<{ api: ClusterApi; proxy: FaultProxy }> {
  const given = process.env['KUBECONFIG'] ?? ''
  const text = readFileSync(given, 'utf8')
  const server = /^ *server: *(\S+)/m.exec(text)?.[1] ?? ''
  const proxy = await FaultProxy.start(server)
  const dir = mkdtempSync(join(tmpdir(), 'behind-proxy-'))
  try {
    process.env['KUBECONFIG'] = join(dir, 'kubeconfig')
    writeFileSync(process.env['KUBECONFIG'], text.replace(server, proxy.url.replace(/\/$/, '')), { mode: 0o600 })
    return { api: await openCluster(), proxy }
  } finally {
    process.env['KUBECONFIG'] = given
    rmSync(dir, { recursive: true })
  }
}
