import { must } from './commands.ts'

const port = 4318
const name = 'traces'

/** Keeps the last messages of OTLP over HTTP; GET /TRACE answers the names of the services that told of that trace. */
const program = `
  const bodies = []
  require('http').createServer((request, response) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk)).on('end', () => {
      if (request.method === 'POST') {
        bodies.push(Buffer.concat(chunks))
        if (bodies.length > 300) bodies.shift()
        return response.end()
      }
      const id = Buffer.from(request.url.slice(1), 'hex')
      const names = bodies.filter((body) => body.includes(id)).map((body) => {
        const at = body.indexOf('service.name') + 'service.name'.length + 3
        return body.toString('utf8', at + 1, at + 1 + body[at])
      })
      response.end(JSON.stringify([...new Set(names)]))
    })
  }).listen(${port})`

/** A receiver of traces in a namespace of its own: services reach all that is there. */
export class TracePod {
  readonly #namespace: string
  readonly #image: string

  constructor(namespace: string, image: string) {
    this.#namespace = namespace
    this.#image = image
  }

  /** For the services of a release. */
  get endpoint(): string {
    return `http://${name}.${this.#namespace}.svc.cluster.local:${port}`
  }

  async start(): Promise<void> {
    const container = {
      name,
      image: this.#image,
      imagePullPolicy: 'IfNotPresent',
      command: ['node', '-e', program],
      readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
      resources: { requests: { cpu: '10m', memory: '64Mi' } },
    }
    const items = [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name },
        spec: { selector: { name }, ports: [{ port }] },
      },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, labels: { name } },
        spec: { containers: [container], automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 },
      },
    ]
    await must('kubectl', ['create', 'namespace', this.#namespace])
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    await must('kubectl', ['apply', '--namespace', this.#namespace, '-f', '-'], list)
    await must('kubectl', [
      'wait',
      '--for=condition=Ready',
      `pod/${name}`,
      '--namespace',
      this.#namespace,
      '--timeout=60s',
    ])
  }

  async stop(): Promise<void> {
    await must('kubectl', ['delete', 'namespace', this.#namespace, '--wait=false'])
  }

  /** The services that have told of a trace so far. */
  async servicesOf(traceId: string): Promise<string[]> {
    const ask = `fetch('http://127.0.0.1:${port}/${traceId}').then((answer) => answer.text()).then(console.log)`
    const text = await must('kubectl', ['exec', name, '--namespace', this.#namespace, '--', 'node', '-e', ask])
    return JSON.parse(text) as string[]
  }
}
