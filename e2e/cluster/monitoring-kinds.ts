import { must, run } from './commands.ts'

const group = 'monitoring.coreos.com'
const kinds = { ServiceMonitor: 'servicemonitors', PrometheusRule: 'prometheusrules' }

/** The kinds of the Prometheus operator, as far as the API server has to know them; those of a real one are left alone. */
export class MonitoringKinds {
  readonly #made = new Array<string>()

  async make(): Promise<void> {
    for (const [kind, plural] of Object.entries(kinds)) {
      const name = `${plural}.${group}`
      if ((await run('kubectl', ['get', 'crd', name])).code === 0) continue
      await must('kubectl', ['create', '-f', '-'], JSON.stringify(definition(name, kind, plural)))
      this.#made.push(name)
      await must('kubectl', ['wait', '--for=condition=Established', `crd/${name}`, '--timeout=30s'])
    }
  }

  async remove(): Promise<void> {
    if (this.#made.length > 0) await must('kubectl', ['delete', 'crd', ...this.#made])
  }
}

function definition(name: string, kind: string, plural: string) {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}
