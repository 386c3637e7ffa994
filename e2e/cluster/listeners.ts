import { must } from './commands.ts'

/** Where these pods, and whatever user code opens, listen. */
export const listenerPort = 7777

/** Two pods of somebody else in a namespace of their own, alike but for what the release is told of them. */
export class Listeners {
  readonly namespace: string
  readonly image: string
  /** Whose address the release allows. */
  allowed = ''
  closed = ''

  constructor(namespace: string, image: string) {
    this.namespace = namespace
    this.image = image
  }

  async start(): Promise<void> {
    await must('kubectl', ['create', 'namespace', this.namespace])
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'allowed' }, spec: serviceSpec }
    const items = [service, this.#pod('allowed'), this.#pod('closed')]
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    await must('kubectl', ['apply', '--namespace', this.namespace, '-f', '-'], list)
    const names = ['pod/allowed', 'pod/closed', '--namespace', this.namespace]
    await must('kubectl', ['wait', '--for=condition=Ready', ...names, '--timeout=60s'])
    const addresses = await must('kubectl', ['get', ...names, '-o', 'jsonpath={.items[*].status.podIP}'])
    ;[this.allowed = '', this.closed = ''] = addresses.split(' ')
  }

  /** The name by which the allowed one is found. */
  get name(): string {
    return `allowed.${this.namespace}.svc.cluster.local`
  }

  /** Runs a command in a pod that no policy holds, and gives what it prints. */
  run(command: string[]): Promise<string> {
    return must('kubectl', ['exec', 'closed', '--namespace', this.namespace, '--', ...command])
  }

  async stop(): Promise<void> {
    await must('kubectl', ['delete', 'namespace', this.namespace, '--wait=false'])
  }

  #pod(name: string) {
    const program = `require('net').createServer((socket) => socket.end()).listen(${listenerPort})`
    const container = {
      name: 'listener',
      image: this.image,
      imagePullPolicy: 'IfNotPresent',
      command: ['node', '-e', program],
      readinessProbe: { tcpSocket: { port: listenerPort }, periodSeconds: 1 },
      resources: { requests: { cpu: '10m', memory: '32Mi' } },
    }
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { name } },
      spec: { containers: [container], automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 },
    }
  }
}

const serviceSpec = { clusterIP: 'None', selector: { name: 'allowed' }, ports: [{ port: listenerPort }] }
