import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { chart, isThere, minimal, renderText } from '../charts/render.ts'

interface Change {
  set: string
  /** What else is set, before and after. */
  given?: string[]
  /** In a line that is there only with it; its value when absent. */
  shows?: RegExp
  /** In a line that is there only without it. */
  hides?: RegExp
}

// Generated keys would make each rendering another.
const named = ['keys.existingSecret=keys', 'keys.existingRunnerSecret=runner', 'bootstrap.existingSecret=token']
const brokers = ['kafka.brokers[0]=kafka:9092']
const objects = ['bucket=files', 'accessKey=one', 'secretKey=two'].map((pair) => `objectStore.${pair}`)
const server = [...objects, 'objectStore.endpoint=http://s3:9000']
const generated = ['keys.existingSecret=']
const deployment = ['runners.kind=deployment']
const keda = [...deployment, 'runners.keda.enabled=true', 'runners.keda.prometheus=http://prometheus:9090']
const ingress = ['ingress.enabled=true', 'ingress.host=host.example.com']
const monitor = ['monitoring.serviceMonitor.enabled=true']
const rules = ['monitoring.rules.enabled=true']
const trial = ['trial.enabled=true', 'database.url=']
const dashboard = ['monitoring.dashboard.enabled=true']
const balancer = ['gateway.service.type=LoadBalancer']
const route = ['httpRoute.enabled=true']

/** For each value of the chart, what it changes. */
const changes: Record<string, Change> = {
  'image.registry': { set: 'registry.example.com/team' },
  'image.prefix': { set: 'other-' },
  'image.tag': { set: '9.8.7' },
  'image.digests': { set: `.gateway=sha256:${'0'.repeat(64)}`, shows: /gateway@sha256:0+$/ },
  'image.pullPolicy': { set: 'Always' },
  'image.pullSecrets': { set: '[0].name=pull-secret' },
  'trial.enabled': { set: 'true,database.url=', shows: /trial-postgres/ },
  'trial.storage': { given: trial, set: '7Gi', shows: /storage: 7Gi/ },
  'trial.storageClassName': { given: trial, set: 'fast', shows: /storageClassName: fast/ },
  'trial.postgres.image': { given: trial, set: 'localhost/my-postgres:1', shows: /image: localhost\/my-postgres:1/ },
  'trial.s3.image': { given: trial, set: 'localhost/my-s3:1', shows: /image: localhost\/my-s3:1/ },
  'trial.kafka.image': { given: trial, set: 'localhost/my-kafka:1', shows: /image: localhost\/my-kafka:1/ },
  'database.url': { set: 'postgres://u:p@elsewhere:5432/a', shows: /elsewhere/ },
  'database.existingSecret': { set: 'my-database' },
  'database.key': { set: 'my-key' },
  'database.keys': { given: ['database.existingSecret=db'], set: '.scheduler=of-scheduler', shows: /of-scheduler/ },
  'kafka.brokers': { set: '[0]=kafka:9092' },
  'kafka.topic': { given: brokers, set: 'my-topic' },
  'kafka.existingSecret': { given: brokers, set: 'my-kafka' },
  'kafka.key': {
    given: [...brokers, 'kafka.existingSecret=my-kafka'],
    set: 'my.properties',
    shows: /KAFKA_CONFIG_FILE/,
  },
  'objectStore.endpoint': { given: objects, set: 'http://s3:9000' },
  'objectStore.publicEndpoint': { given: server, set: 'https://files.example.com' },
  'objectStore.bucket': { given: server, set: 'other-files' },
  'objectStore.region': { given: server, set: 'eu-1' },
  'objectStore.accessKey': { given: server, set: 'my-access' },
  'objectStore.secretKey': { given: server, set: 'my-secret' },
  'objectStore.existingSecret': { given: server, set: 'my-objects' },
  'tracing.endpoint': { set: 'http://collector:4318', shows: /collector:4318/ },
  'tracing.existingSecret': { set: 'my-tracing', shows: /name: my-tracing/ },
  'tracing.key': { given: ['tracing.existingSecret=my-tracing'], set: 'my-headers', shows: /key: "my-headers"/ },
  'keys.existingSecret': { set: 'my-keys' },
  'keys.existingGatewaySecret': { set: 'my-gateway-key', shows: /name: my-gateway-key/ },
  'keys.existingRunnerSecret': { set: 'my-runner-key' },
  'keys.keep': { given: generated, set: 'true', shows: /helm.sh\/resource-policy: keep/ },
  'internalTls.secrets': {
    given: ['gateway', 'process-catalog', 'execution', 'scheduler', 'storage', 'sandbox', 'runner'].map(
      (name) => `internalTls.secrets.${name}=tls`,
    ),
    set: '.gateway=gateway-tls',
    shows: /secretName: gateway-tls/,
  },
  'certificateAuthorities.existingConfigMap': { set: 'my-authorities' },
  'certificateAuthorities.key': {
    given: ['certificateAuthorities.existingConfigMap=my-authorities'],
    set: 'my.crt',
    shows: /NODE_EXTRA_CA_CERTS.*my\.crt/,
  },
  'certificateAuthorities.runnersConfigMap': {
    set: 'my-authorities',
    shows: /NODE_EXTRA_CA_CERTS.*automation-authorities/,
  },
  'bootstrap.enabled': { set: 'false', hides: /BOOTSTRAP_TEAM/ },
  'bootstrap.team': { set: 'my-team' },
  'bootstrap.existingSecret': { set: 'my-token' },
  consoleUrl: { set: 'https://console.example.com', shows: /CONSOLE_URL.*console\.example\.com/ },
  publicUrl: { set: 'https://my.example.com', shows: /PUBLIC_URL.*my\.example\.com/ },
  runTimeoutMaxMs: { set: '7200000', shows: /RUN_TIMEOUT_MAX_MS.*7200000/ },
  egressAllow: { set: '[0]=10.1.0.0/16', shows: /cidr.*10\.1\.0\.0\/16/ },
  settings: { set: '.LOG_LEVEL=debug', shows: /LOG_LEVEL.*debug/ },
  'services.*.kind': { set: 'gateway.kind=StatefulSet' },
  'services.*.replicas': { set: 'gateway.replicas=7', shows: /replicas: 7/ },
  'services.*.ports': { set: 'gateway.ports.http=8888' },
  'services.*.healthPort': { set: 'gateway.healthPort=sandbox-http', shows: /readyz, port: sandbox-http/ },
  'services.*.migrates': { set: 'execution.migrates=false', hides: /apps\/execution\/src\/main\.ts, --migrate/ },
  'services.*.secrets': { set: 'gateway.secrets[0]=RUNNER_KEY', shows: /RUNNER_KEY_FILE/ },
  'services.*.kafka': { given: brokers, set: 'execution.kafka=false', hides: /KAFKA_BROKERS/ },
  'services.*.objectStore': { set: 'storage.objectStore=false', shows: /image: process-automation-storage/ },
  'services.*.clusterRights': { set: 'sandbox.clusterRights=false', hides: /automountServiceAccountToken: true/ },
  'services.*.drainSeconds': { set: 'gateway.drainSeconds=9', shows: /sleep: { seconds: 9 }/ },
  'services.*.graceSeconds': { set: 'gateway.graceSeconds=77', shows: /SHUTDOWN_GRACE_MS.*72000/ },
  'services.*.env': { set: 'gateway.env.CORS_ORIGINS=my-origin', shows: /CORS_ORIGINS.*my-origin/ },
  'services.*.resources': { set: 'gateway.resources.limits.memory=777Mi' },
  'sandbox.driver': { set: 'local', shows: /SANDBOX_DRIVER.*local/ },
  'sandbox.namespace': { set: 'boxes', shows: /namespace: boxes/ },
  'sandbox.images': { set: '[0].id=my-image' },
  'sandbox.allowAnyImage': { set: 'true', shows: /allowAnyImage.*true/ },
  'sandbox.startTimeoutMs': { set: '240000', shows: /startTimeoutMs.*240000/ },
  'sandbox.homeMb': { set: '2048', shows: /homeMb.*2048/ },
  'sandbox.teamMax': { set: '3', shows: /TEAM_MAX_SANDBOXES.*"3"/ },
  cells: { set: '.blue.existingSecret=blue-database', shows: /execution@blue=/ },
  'runners.kind': { set: 'deployment', shows: /image: process-automation-runner/ },
  'runners.replicas': { given: deployment, set: '6', shows: /replicas: 6/ },
  'runners.slots': { set: '7', shows: /RUNNER_SLOTS.*7/ },
  'runners.pool.spare': { set: '4', shows: /"spare[^\w]+4\b/ },
  'runners.pool.max': { set: '44', shows: /"max[^\w]+44\b/ },
  'runners.pool.maxPerTeam': { set: '5', shows: /"maxPerTeam[^\w]+5\b/ },
  'runners.pool.startTimeoutMs': { set: '300000', shows: /"startTimeoutMs[^\w]+300000\b/ },
  'runners.pool.tmpMb': { set: '512', shows: /"tmpMb[^\w]+512\b/ },
  'runners.pool.packagesMb': { set: '640', shows: /"packagesMb[^\w]+640\b/ },
  'runners.pool.idleMs': { set: '61000', shows: /"idleMs[^\w]+61000\b/ },
  'runners.keda.enabled': {
    given: [...deployment, 'runners.keda.prometheus=http://prometheus:9090'],
    set: 'true',
    shows: /kind: ScaledObject/,
  },
  'runners.keda.prometheus': {
    given: keda,
    set: 'http://elsewhere:9090',
    shows: /serverAddress: "http:\/\/elsewhere:9090"/,
  },
  'runners.keda.minReplicas': { given: keda, set: '3', shows: /minReplicaCount: 3/ },
  'runners.keda.maxReplicas': { given: keda, set: '33', shows: /maxReplicaCount: 33/ },
  'runners.pools': { set: '.large.replicas=2', shows: /RUNNER_POOL.*large/ },
  'runners.env': { set: '.RUN_MEMORY_MB=300', shows: /RUN_MEMORY_MB.*300/ },
  'runners.existingSecret': { given: deployment, set: 'my-registries', shows: /name: my-registries.*NPM_REGISTRY/ },
  'runners.secrets': {
    given: [...deployment, 'runners.existingSecret=my-registries'],
    set: '[0]=MY_SETTING',
    shows: /MY_SETTING_FILE/,
  },
  'runners.resources': { set: '.limits.memory=3333Mi', shows: /"memory\\": \\"3333Mi/ },
  'networkPolicy.enabled': { set: 'false', hides: /kind: NetworkPolicy/ },
  'networkPolicy.closedRanges': { set: '[0]=1.2.3.0/24', shows: /except.*1\.2\.3\.0\/24/ },
  'networkPolicy.closedRangesV6': { set: '[0]=fd00:1::/32', shows: /except.*fd00:1::\/32/ },
  'networkPolicy.egress': { set: '[0].ports[0].port=5432', shows: /port: 5432/ },
  'networkPolicy.dns.addresses': { set: '[0]=169.254.25.10/32', shows: /169\.254\.25\.10/ },
  'networkPolicy.dns.port': { set: '5353', shows: /"port":5353/ },
  'networkPolicy.dns.namespace': { set: 'names' },
  'networkPolicy.dns.podLabels': { set: '.k8s-app=my-dns' },
  'podSecurity.runAsUser': { set: '1234', shows: /runAsUser: 1234/ },
  'podSecurity.fixedIds': { set: 'false', hides: /runAsUser: 1000/ },
  'podSecurity.runtimeClassName': { set: 'gvisor', shows: /images\.json.*runtimeClassName[^\w]+gvisor/ },
  'podDisruptionBudget.enabled': { set: 'false', hides: /kind: PodDisruptionBudget/ },
  'topologySpread.enabled': { set: 'false', hides: /topologySpreadConstraints/ },
  commonLabels: { set: '.owner=mine', shows: /owner: mine/ },
  podAnnotations: { set: '.note=mine', shows: /note: mine/ },
  podLabels: { set: '.owner=mine', shows: /owner: mine/ },
  extraEnv: { set: '[0].name=MINE', shows: /name: MINE/ },
  nodeSelector: { set: '.disk=ssd', shows: /disk: ssd/ },
  tolerations: { set: '[0].key=dedicated' },
  affinity: { set: '.nodeAffinity.a=mine', shows: /a: mine/ },
  priorityClassName: { set: 'my-class', shows: /priorityClassName: my-class/ },
  'userCode.nodeSelector': { set: '.disk=ssd', shows: /disk[^\w]+ssd/ },
  'userCode.tolerations': { set: '[0].key=dedicated', shows: /key[^\w]+dedicated/ },
  'userCode.affinity': { set: '.nodeAffinity.a=mine', shows: /nodeAffinity/ },
  'userCode.priorityClassName': { set: 'my-class' },
  'gateway.service.type': { set: 'LoadBalancer' },
  'gateway.service.externalTrafficPolicy': {
    given: balancer,
    set: 'Local',
    shows: /externalTrafficPolicy: Local/,
  },
  'gateway.service.loadBalancerClass': { given: balancer, set: 'my-class', shows: /loadBalancerClass: my-class/ },
  'gateway.service.loadBalancerSourceRanges': {
    given: balancer,
    set: '[0]=203.0.113.0/24',
    shows: /- 203\.0\.113\.0\/24/,
  },
  'gateway.service.annotations': { set: '.note=mine', shows: /note: mine/ },
  'gateway.service.nodePorts': { given: ['gateway.service.type=NodePort'], set: '.http=30080' },
  'gateway.grpcTls.existingSecret': { set: 'my-tls' },
  'gateway.runnersTls.existingSecret': { given: ['services.gateway.ports.runners-grpc=8085'], set: 'my-runners-tls' },
  'gateway.webhookDomain': { set: 'hooks.example.com', shows: /WEBHOOK_DOMAIN.*hooks\.example\.com/ },
  'ingress.enabled': { set: 'true', shows: /kind: Ingress/ },
  'ingress.className': { given: ingress, set: 'my-class' },
  'ingress.annotations': { given: ingress, set: '.note=mine', shows: /note: mine/ },
  'ingress.host': { given: ingress, set: 'my.example.com', shows: /host: "my\.example\.com"/ },
  'ingress.sandboxHost': { given: ingress, set: '*.boxes.example.com' },
  'ingress.tls': { given: ingress, set: '[0].secretName=my-tls' },
  'gateway.oidc.existingSecret': { set: 'my-oidc' },
  'ingress.consoleHost': { given: ingress, set: 'console.example.com', shows: /host: "console\.example\.com"/ },
  'httpRoute.enabled': { set: 'true', shows: /kind: HTTPRoute/ },
  'httpRoute.parentRefs': { given: route, set: '[0].name=my-gateway' },
  'httpRoute.hostnames': { given: route, set: '[0]=my.example.com' },
  'httpRoute.consoleHostnames': { given: route, set: '[0]=console.example.com' },
  'httpRoute.strictTransportSecurity': {
    given: route,
    set: 'max-age=600',
    shows: /name: Strict-Transport-Security, value: "max-age=600"/,
  },
  'httpRoute.sandboxGrpcHostnames': { given: route, set: '[0]=boxes.example.com', shows: /kind: GRPCRoute/ },
  'httpRoute.runnersGrpcHostnames': {
    given: [...route, 'services.gateway.ports.runners-grpc=8085'],
    set: '[0]=runners.example.com',
    shows: /port: 8085/,
  },
  'httpRoute.sandboxHostnames': { given: route, set: '[0]=boxes.example.com' },
  'monitoring.serviceMonitor.enabled': { set: 'true', shows: /kind: ServiceMonitor/ },
  'monitoring.serviceMonitor.interval': { given: monitor, set: '7s' },
  'monitoring.serviceMonitor.labels': { given: monitor, set: '.release=mine', shows: /release: mine/ },
  'monitoring.rules.enabled': { set: 'true', shows: /kind: PrometheusRule/ },
  'monitoring.rules.runbooks': {
    given: rules,
    set: 'https://wiki.example.com/runbooks',
    shows: /runbook_url: https:\/\/wiki\.example\.com\/runbooks#automationnorunner/,
  },
  'monitoring.rules.labels': { given: rules, set: '.release=mine', shows: /release: mine/ },
  'monitoring.dashboard.enabled': { set: 'true', shows: /grafana_dashboard: "1"/ },
  'monitoring.dashboard.labels': { given: dashboard, set: '.folder=mine', shows: /folder: mine/ },
  'migrations.enabled': { set: 'false', hides: /kind: Job/ },
  'migrations.deadlineSeconds': { set: '61', shows: /activeDeadlineSeconds: 61/ },
  'migrations.resources': { set: '.limits.memory=777Mi', shows: /memory: 777Mi/ },
  'test.resources': { set: '.limits.memory=777Mi', shows: /memory: 777Mi/ },
  'migrations.backoffLimit': { set: '9', shows: /backoffLimit: 9/ },
}

/** The paths of single values; lists are single ones. */
function pathsOf(value: unknown, path = ''): string[] {
  const entries = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
  if (entries.length === 0) return [path]
  return entries.flatMap(([name, each]) => pathsOf(each, path === '' ? name : `${path}.${name}`))
}

/** As `--set` takes it. */
function setOf(name: string, set: string): string {
  if (name.startsWith('services.*.')) return `services.${set}`
  return `${name}${/^(\[|\.\w)/.test(set) ? '' : '='}${set}`
}

/** The lines of one text beyond those of another. */
function beyond(text: string, other: string): string {
  const left = new Map<string, number>()
  for (const line of other.split('\n')) left.set(line, (left.get(line) ?? 0) + 1)
  return text
    .split('\n')
    .filter((line) => {
      const count = left.get(line) ?? 0
      left.set(line, count - 1)
      return count <= 0
    })
    .join('\n')
}

const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Record<string, unknown>
const paths = [...new Set(pathsOf(values).map((path) => path.replace(/^services\.[^.]+\./, 'services.*.')))]

const rendered = new Map<string, Promise<string>>()

/** Rendered once: most values are beside the same others. */
function renderedWithout(given: string[]): Promise<string> {
  const key = given.join()
  const known = rendered.get(key) ?? renderText(minimal, [...named, ...given])
  rendered.set(key, known)
  return known
}

describe('the values of the chart', () => {
  test('each is tried below, and is in the table of the README', () => {
    const isTried = (path: string) => Object.keys(changes).some((name) => path === name || path.startsWith(`${name}.`))
    expect(paths.filter((path) => !isTried(path))).toEqual([])
    const readme = readFileSync(join(chart, 'README.md'), 'utf8')
    const rows = readme
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .join('')
    expect(Object.keys(values).filter((name) => !rows.includes(`\`${name}\``))).toEqual([])
  })

  // Without helm there is nothing to try; `npm run check` says so.
  test.runIf(isThere('helm')).for(Object.entries(changes))(
    '%s changes what is made',
    async ([name, { set, given = [], shows, hides }]) => {
      const [without, with_] = [
        await renderedWithout(given),
        await renderText(minimal, [...named, ...given, setOf(name, set)]),
      ]
      const value = set.slice(set.indexOf('=') + 1)
      if (hides !== undefined) expect(beyond(without, with_)).toMatch(hides)
      else if (shows === undefined) expect(beyond(with_, without)).toContain(value)
      else expect(beyond(with_, without)).toMatch(shows)
    },
  )
})
