import { describe, expect, test } from 'vitest'
import {
  component,
  foldersOf,
  podOf,
  podSettings,
  secretsOf,
  full,
  isThere,
  minimal,
  render,
  selects,
  type Manifest,
} from '../charts/render.ts'

interface Peer {
  namespaceSelector?: { matchLabels: Record<string, string> }
  podSelector: Selector
}

interface Selector {
  matchLabels: Record<string, string>
  matchExpressions?: { key: string; operator: string; values: string[] }[]
}

interface Rule {
  to?: Peer[]
  ports?: { port: number; protocol?: string }[]
}

interface Policy {
  podSelector: Selector
  policyTypes: string[]
  ingress: { from?: Peer[]; ports: { port: string | number; protocol: string }[] }[]
}

const policyOf = (manifests: Manifest[], end: string) =>
  manifests.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name.endsWith(end))!['spec'] as Policy

/** The components that a selector takes, of this installation. */
function componentsOf({ matchLabels, matchExpressions = [] }: Selector): string[] {
  expect(matchLabels).toMatchObject({
    'app.kubernetes.io/part-of': 'process-automation',
    'app.kubernetes.io/instance': 'release',
  })
  const one = matchLabels['app.kubernetes.io/component']
  if (one !== undefined) return [one]
  expect(matchExpressions).toMatchObject([{ key: 'app.kubernetes.io/component', operator: 'In' }])
  return matchExpressions[0]!.values
}

const namespaceOf = ({ namespaceSelector }: Peer) => namespaceSelector?.matchLabels['kubernetes.io/metadata.name']

// Without helm there is nothing to try; `npm run check` says so.
describe.runIf(isThere('helm'))('who reaches what', () => {
  test('what services say to each other is for services of the installation alone; their health is for all', async () => {
    const manifests = await render(full)
    const { podSelector, policyTypes, ingress } = policyOf(manifests, '-services')
    const services = manifests
      .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
      .map((each) => component(each)!)
      .filter((each) => !each.startsWith('runner'))
    expect(componentsOf(podSelector).toSorted()).toEqual(services.filter((each) => each !== 'gateway').toSorted())
    expect(policyTypes).toEqual(['Ingress'])
    const [calls, health, ...others] = ingress
    expect(others).toEqual([])
    expect(calls!.ports).toEqual([{ port: 'grpc', protocol: 'TCP' }])
    expect(calls!.from!.map(namespaceOf)).toEqual([undefined])
    const callers = calls!.from!.flatMap((peer) => componentsOf(peer.podSelector))
    expect(callers.toSorted()).toEqual(['execution', 'gateway', 'process-catalog', 'sandbox', 'scheduler', 'storage'])
    expect(health).toEqual({ ports: [{ port: 'health', protocol: 'TCP' }] })
  })

  test('runners, from the namespace of their pods, reach execution and storage, and nothing else does from there', async () => {
    const { podSelector, ingress } = policyOf(await render(full), '-for-runners')
    expect(componentsOf(podSelector)).toEqual(['execution', 'storage'])
    expect(ingress.map(({ ports }) => ports)).toEqual([[{ port: 'grpc', protocol: 'TCP' }]])
    expect(ingress[0]!.from!.map(namespaceOf)).toEqual(['sandboxes', 'automation'])
    for (const { podSelector: pods } of ingress[0]!.from!)
      for (const [name, may] of Object.entries({
        'runner-pod': true,
        runner: true,
        'sandbox-pod': false,
        gateway: false,
      }))
        expect(selects(pods, { ...pods.matchLabels, 'app.kubernetes.io/component': name }), name).toBe(may)
  })

  test('the daemon of a sandbox is for the gateway and the sandbox service, from the namespace of the release', async () => {
    const { podSelector, ingress } = policyOf(await render(full), '-sandbox-daemons')
    expect(componentsOf(podSelector)).toEqual(['sandbox-pod'])
    expect(ingress.map(({ ports }) => ports)).toEqual([[{ port: 9400, protocol: 'TCP' }]])
    expect(ingress[0]!.from!.map((peer) => [namespaceOf(peer), ...componentsOf(peer.podSelector)])).toEqual([
      ['automation', 'gateway'],
      ['automation', 'sandbox'],
    ])
  })

  test('into every pod of the release comes only what a policy lets in; the gateway answers by its ports alone', async () => {
    const manifests = await render(minimal)
    const { podSelector, ingress } = policyOf(manifests, '-default')
    expect(podSelector).toEqual({
      matchLabels: { 'app.kubernetes.io/part-of': 'process-automation', 'app.kubernetes.io/instance': 'release' },
    })
    expect(ingress).toEqual([])
    const gateway = policyOf(manifests, '-gateway')
    expect(componentsOf(gateway.podSelector)).toEqual(['gateway'])
    const open = gateway.ingress.flatMap(({ ports }) => ports.map(({ port }) => String(port)))
    expect(open.toSorted()).toEqual(['console', 'health', 'http', 'sandbox-grpc', 'sandbox-http'])
  })

  test('health and metrics are on no Service, Ingress or route that users reach, whatever the type of the Service', async () => {
    const manifests = await render(full, ['gateway.service.type=LoadBalancer'])
    const services = manifests.filter(({ kind }) => kind === 'Service').map((each) => each['spec']) as {
      type?: string
      ports: { name: string }[]
    }[]
    const published = services.filter(({ type }) => type === 'LoadBalancer' || type === 'NodePort')
    expect(published).toHaveLength(1)
    expect(published[0]!.ports.map(({ name }) => name)).not.toContain('health')
    const ways = manifests.filter(({ kind }) => /^(Ingress|HTTPRoute|GRPCRoute)$/.test(kind))
    expect(ways.length).toBeGreaterThan(4)
    expect(JSON.stringify(ways.map((each) => each['spec']))).not.toMatch(/"health"|9200|-health"/)
  })

  test('the gateway goes out to names, to pods of the release, and to the ports of an issuer and of a collector alone', async () => {
    const outOf = async (...sets: string[]) =>
      (policyOf(await render(minimal, sets), '-gateway') as unknown as { egress: Rule[] }).egress
    const portsOf = (rules: Rule[]) => rules.filter(({ to }) => to === undefined).flatMap(({ ports }) => ports)
    const alone = await outOf()
    expect(portsOf(alone)).toEqual([])
    expect(alone).toHaveLength(2)
    expect(alone.flatMap(({ to = [] }) => to).filter(({ podSelector }) => podSelector === undefined)).toEqual([
      { ipBlock: { cidr: '169.254.20.10/32' } },
    ])
    const others = await outOf(
      'settings.OIDC_ISSUER=https://issuer.example.com/a',
      'tracing.endpoint=http://collector.example.com:4318',
    )
    expect(portsOf(others)).toEqual([
      { port: 4318, protocol: 'TCP' },
      { port: 443, protocol: 'TCP' },
    ])
    // A Service's port is seldom that of its pods.
    const inside = await outOf('settings.OIDC_ISSUER=https://keycloak.sign-in.svc/realms/a')
    const inNamespace = (name: string) => ({
      to: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } }],
    })
    expect(inside.at(-1)).toEqual(inNamespace('sign-in'))
    const beside = await outOf('tracing.endpoint=http://collector:4318')
    expect(beside.at(-1)).toEqual(inNamespace('automation'))
  })

  test('where services may go is named, they go nowhere else, and callbacks to the public internet', async () => {
    expect((await render(minimal)).some(({ metadata }) => metadata.name.endsWith('-egress'))).toBe(false)
    const manifests = await render(minimal, ['networkPolicy.egress[0].ports[0].port=5432'])
    const services = policyOf(manifests, '-egress') as unknown as { policyTypes: string[]; egress: Rule[] } & Policy
    expect(services.policyTypes).toEqual(['Egress'])
    const deployed = manifests.flatMap((each) => (podOf(each).length > 0 ? [component(each)!] : []))
    expect([...componentsOf(services.podSelector), 'gateway']).toEqual(expect.arrayContaining(deployed))
    expect(services.egress.at(-1)).toEqual({ ports: [{ port: 5432 }] })
    const callbacks = policyOf(manifests, '-callbacks') as unknown as {
      egress: { to: { ipBlock: object }[] }[]
    } & Policy
    expect(componentsOf(callbacks.podSelector)).toEqual(['execution'])
    expect(callbacks.egress[0]!.to[0]!.ipBlock).toMatchObject({
      cidr: '0.0.0.0/0',
      except: expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16']) as string[],
    })
  })

  test('an ingress and a route lead to the gateway, to the public ports of sandboxes and to the console by their own hosts', async () => {
    const manifests = await render(full)
    const gateway = 'release-process-automation-gateway'
    const { rules } = manifests.find(({ kind }) => kind === 'Ingress')!['spec'] as {
      rules: { host: string; http: { paths: { backend: { service: { name: string; port: { name: string } } } }[] } }[]
    }
    expect(rules.map(({ host, http }) => [host, ...http.paths.map(({ backend }) => backend.service)])).toEqual([
      ['automation.example.com', { name: gateway, port: { name: 'http' } }],
      ['*.webhooks.example.com', { name: gateway, port: { name: 'http' } }],
      ['*.sandboxes.example.com', { name: gateway, port: { name: 'sandbox-http' } }],
      ['console.example.com', { name: gateway, port: { name: 'console' } }],
    ])
    const routes = manifests.filter(({ kind }) => kind === 'HTTPRoute').map((each) => each['spec']) as {
      hostnames: string[]
      rules: { backendRefs: unknown[] }[]
    }[]
    expect(routes.map((route) => [route.hostnames, route.rules.flatMap(({ backendRefs }) => backendRefs)])).toEqual([
      [['automation.example.com', '*.webhooks.example.com'], [{ name: gateway, port: 8080 }]],
      [['console.example.com'], [{ name: gateway, port: 8083 }]],
      [['*.sandboxes.example.com'], [{ name: gateway, port: 8081 }]],
    ])
  })

  test('links lead to the host of the ingress, else of the route, unless an address is named', async () => {
    const urls = async (...sets: string[]) => {
      const [gateway] = (await render(minimal, sets)).filter((each) => component(each) === 'gateway').flatMap(podOf)
      const valueOf = (name: string) => gateway!.containers[0]!.env.find((each) => each.name === name)?.value
      return [valueOf('PUBLIC_URL'), valueOf('CONSOLE_URL')]
    }
    const service = 'http://release-process-automation-gateway.automation.svc:8080'
    const hosts = ['hostnames[0]=*.example.com', 'hostnames[1]=api.example.com']
    const ofConsole = ['consoleHostnames[0]=*.example.com', 'consoleHostnames[1]=console.example.com']
    const route = [...hosts, ...ofConsole].map((set) => `httpRoute.${set}`)
    const ingress = ['enabled=true', 'host=in.example.com', 'consoleHost=c.example.com'].map((set) => `ingress.${set}`)
    expect(await urls(...route)).toEqual([service, undefined])
    expect(await urls('httpRoute.enabled=true', route[0]!, route[2]!)).toEqual([service, undefined])
    const both = ['https://api.example.com', 'https://console.example.com']
    expect(await urls('httpRoute.enabled=true', ...route)).toEqual(both)
    const ofIngress = ['http://in.example.com', 'http://c.example.com']
    expect(await urls('httpRoute.enabled=true', ...route, ...ingress)).toEqual(ofIngress)
    const named = ['publicUrl=https://a.example.com', 'consoleUrl=https://b.example.com']
    expect(await urls('httpRoute.enabled=true', ...route, ...named)).toEqual([
      'https://a.example.com',
      'https://b.example.com',
    ])
  })

  test('the migrations come first, one container for each service that has a database, and have its address alone', async () => {
    for (const [values, secret, key] of [
      [full, 'postgres', 'uri'],
      [minimal, 'release-process-automation-migrations', 'url'],
    ] as const) {
      const manifests = await render(values)
      const job = manifests.find(({ kind }) => kind === 'Job')!
      expect(job.metadata.annotations).toMatchObject({ 'helm.sh/hook': 'pre-install,pre-upgrade' })
      const [pod] = podOf(job)
      const stored = manifests
        .filter((each) =>
          podOf(each).some((one) => one.containers[0]!.env.some(({ name }) => name === 'DATABASE_URL_FILE')),
        )
        .filter(({ kind }) => kind !== 'Job')
        .map((each) => component(each)!)
      expect(pod!.containers.map(({ name }) => name)).toEqual(stored.toSorted())
      for (const { name, args } of pod!.containers) expect(args).toEqual([`apps/${name}/src/main.ts`, '--migrate'])
      expect(secretsOf(pod!)).toEqual([{ name: secret, items: [{ key, path: 'DATABASE_URL' }] }])
      const own = manifests.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === secret)
      if (values === full) expect(own).toBeUndefined()
      // A hook with a smaller weight is there before.
      else expect(own!.metadata.annotations).toMatchObject({ 'helm.sh/hook-weight': '-5' })
    }
    expect((await render(minimal, ['migrations.enabled=false'])).filter(({ kind }) => kind === 'Job')).toEqual([])
  })

  test('where Secrets are named, pods have what they need from these alone, by their keys', async () => {
    const manifests = await render(full, ['gateway.grpcTls.existingSecret=automation-grpc'])
    const used = manifests.flatMap(podOf).flatMap(secretsOf)
    const pairs = used.flatMap(({ name, items }) => items.map(({ key, path }) => `${name}: ${key} is ${path}`))
    const folders = manifests.flatMap(podOf).flatMap(foldersOf)
    pairs.push(...folders.map(({ name, path }) => `${name}: all of it in ${path}`))
    expect([...new Set(pairs)].toSorted()).toEqual([
      'automation-gateway-key: INTERNAL_KEY is INTERNAL_KEY',
      'automation-grpc: all of it in /run/secrets/grpc-tls',
      'automation-keys: ENCRYPTION_KEY is ENCRYPTION_KEY',
      'automation-keys: INTERNAL_KEY is INTERNAL_KEY',
      'automation-oidc: OIDC_CLIENT_SECRET is OIDC_CLIENT_SECRET',
      'automation-runner-key: RUNNER_KEY is RUNNER_KEY',
      'automation-token: token is BOOTSTRAP_API_TOKEN',
      'kafka: all of it in /run/secrets/kafka',
      'objects: S3_ACCESS_KEY is S3_ACCESS_KEY',
      'objects: S3_SECRET_KEY is S3_SECRET_KEY',
      'otlp: headers is OTEL_EXPORTER_OTLP_HEADERS',
      'postgres: uri is DATABASE_URL',
      'release-process-automation-pod-settings: pods.json is pods.json',
      'runners-tls: all of it in /run/secrets/runners-tls',
    ])
  })

  test('the key of which those of runner pods are made is nowhere near them, and the sandbox service has it for them alone', async () => {
    const separate = ['sandbox.namespace=sandboxes']
    const manifests = await render(minimal, separate)
    const inPodNamespace = manifests.filter(({ metadata }) => metadata.namespace === 'sandboxes')
    expect(inPodNamespace.map(({ kind }) => kind)).toContain('Role')
    expect(inPodNamespace.filter(({ kind }) => kind === 'Secret')).toEqual([])
    expect(JSON.stringify(podSettings(manifests))).not.toContain('RUNNER_KEY')
    const sandboxOf = (all: Manifest[]) => {
      const [pod] = podOf(all.find((each) => each.kind === 'Deployment' && component(each) === 'sandbox')!)
      return secretsOf(pod!).flatMap(({ items }) => items.map(({ path }) => path))
    }
    const rightsOf = (all: Manifest[]) =>
      (all.find(({ kind }) => kind === 'Role')!['rules'] as { resources: string[]; verbs: string[] }[])
        .filter(({ resources }) => resources.includes('secrets'))
        .flatMap(({ verbs }) => verbs)
    expect(sandboxOf(manifests)).toContain('RUNNER_KEY')
    expect(rightsOf(manifests)).toEqual(['create'])
    const plain = await render(minimal, [...separate, 'runners.kind=deployment'])
    expect(sandboxOf(plain)).not.toContain('RUNNER_KEY')
    expect(rightsOf(plain)).toEqual([])
  })

  test('user code has a namespace of its own, which the chart makes unless one is named', async () => {
    const manifests = await render(minimal)
    const namespaces = (all: Manifest[]) => all.filter(({ kind }) => kind === 'Namespace').map((each) => each.metadata)
    expect(namespaces(manifests)).toMatchObject([
      { name: 'automation-release-user-code', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
    ])
    expect(podSettings(manifests)).toMatchObject({ namespace: 'automation-release-user-code' })
    const there = manifests.filter(({ metadata }) => metadata.namespace === 'automation-release-user-code')
    expect(there.map(({ kind, metadata }) => `${kind} ${metadata.name.replace(/.*automation-/, '')}`)).toEqual([
      'NetworkPolicy user-code',
      'NetworkPolicy runners',
      'NetworkPolicy sandbox-daemons',
      'ConfigMap pods',
      'Role pods',
      'RoleBinding pods',
    ])
    // What a release has made stays its own when its name is said.
    const named = await render(minimal, ['sandbox.namespace=automation-release-user-code'])
    expect(namespaces(named)).toHaveLength(1)
    expect(namespaces(await render(minimal, ['sandbox.namespace=mine']))).toEqual([])
    expect(namespaces(await render(minimal, ['sandbox.namespace=automation']))).toEqual([])
  })

  test('lets nothing into pods with user code but to the daemon of a sandbox, and out only to what is public', async () => {
    const policies = (await render(minimal)).filter(({ kind }) => kind === 'NetworkPolicy')
    const named = (end: string) =>
      policies.find(({ metadata }) => metadata.name.endsWith(end))!['spec'] as {
        ingress: { from: unknown[]; ports: { port: number }[] }[]
        egress: { to: { ipBlock?: { cidr: string; except?: string[] } }[]; ports?: { port: number }[] }[]
      }
    const code = named('-user-code')
    expect(code.ingress).toEqual([])
    const blocksOf = (rules: typeof code.egress) =>
      rules.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? []))
    const { names, all: everywhere } = Object.groupBy(code.egress, ({ ports }) =>
      ports === undefined ? 'all' : 'names',
    )
    const blocks = blocksOf(everywhere!)
    expect(blocks.map(({ cidr }) => cidr)).toEqual(['0.0.0.0/0', '::/0'])
    // A name server on each node.
    expect(blocksOf(names!).map(({ cidr }) => cidr)).toEqual(['169.254.20.10/32'])
    expect(names!.flatMap(({ ports }) => ports!.map(({ port }) => port))).toEqual([53, 53])
    expect(blocks[0]!.except).toEqual(expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '127.0.0.0/8']))
    expect(named('-sandbox-daemons').ingress.flatMap(({ ports }) => ports.map(({ port }) => port))).toEqual([9400])
  })

  test('where none are named, what pods need is made with the release', async () => {
    const manifests = await render(minimal)
    const made = new Map(
      manifests
        .filter(({ kind }) => kind === 'Secret')
        .map((each) => [each.metadata.name, { ...(each['data'] as object), ...(each['stringData'] as object) }]),
    )
    const used = manifests.flatMap(podOf).flatMap(secretsOf)
    expect(used.length).toBeGreaterThan(4)
    for (const { name, items } of used)
      for (const { key } of items) expect(Object.keys(made.get(name) ?? {}), name).toContain(key)
  })

  test("the process-catalog has all that the operator's command in its image wants: key, console, every service and cell", async () => {
    const manifests = await render(full, ['cells.blue.existingSecret=blue-database'])
    const pod = podOf(manifests.find((each) => component(each) === 'process-catalog' && podOf(each).length > 0)!)
    const env = new Map(
      pod.flatMap(({ containers }) => containers).flatMap((each) => each.env.map(({ name, value }) => [name, value])),
    )
    const called = env
      .get('SERVICE_ADDRESSES')!
      .split(',')
      .map((pair) => pair.replace(/=.*/, ''))
    expect(called.toSorted()).toEqual(['catalog', 'execution', 'execution@blue', 'sandbox', 'scheduler', 'storage'])
    expect(env.get('CONSOLE_URL')).toBe('https://console.example.com')
    expect(pod.flatMap(secretsOf).flatMap(({ items }) => items.map(({ path }) => path))).toContain('INTERNAL_KEY')
  })
})
