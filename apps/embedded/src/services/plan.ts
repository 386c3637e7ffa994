import { closedPorts } from '../closed-ports.ts'
import type { EnvironmentValues } from '../environment.ts'
import type { ServicesSettings } from './settings.ts'

export type ServiceName = 'process-catalog' | 'execution' | 'storage' | 'runner' | 'sandbox' | 'scheduler' | 'gateway'

/** One service as its own process: what it is given, and where it tells how it is. */
export interface ServicePlan {
  name: ServiceName
  env: EnvironmentValues
  /** Where /livez and /readyz are. */
  healthUrl: string
}

export interface Secrets {
  databaseUrl: string
  internalKey: string
  encryptionKey: string
  runnerKey: string
  /** The halves of the gateway's own keys, which is given no other: others can reach it from outside. */
  gatewayKeys: { privateRing: string; publicRing: string }
}

const secretNames = ['DATABASE_URL', 'INTERNAL_KEY', 'ENCRYPTION_KEY', 'RUNNER_KEY', 'BOOTSTRAP_API_TOKEN']

/** Of what operators give, secrets that one service alone has a use for. */
const secretsOf = {
  execution: ['KAFKA_CONFIG'],
  storage: ['S3_ACCESS_KEY', 'S3_SECRET_KEY'],
  gateway: ['OIDC_CLIENT_SECRET'],
} as const

/** What a runner may know of the operator's environment: the machine's own settings and its own, and no secret. */
const forRunners =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|LANG|LC_\w+|TMPDIR|NODE_\w+|SSL_CERT_\w+|LOG_\w+|OTEL_\w+|RUN_\w+|RUNNER_\w+|SERVICE_PORTS|SERVICE_ADDRESSES|DEPENDENCIES_\w+|NPM_REGISTRY\w*|PYPI_INDEX_URL\w*|ISOLATION|ISOLATION_\w+|EGRESS_ALLOW|CODE_GLOBAL_ALIAS|AGENT_POOLS|PARAMETERS_MAX_BYTES|RETURN_VALUE_MAX_BYTES|SHUTDOWN_GRACE_MS|INTERNAL_TLS_DIR|FAIL_POINT|AUTOMATION_\w+)$/

interface ServicePlans {
  catalog: ServicePlan
  execution: ServicePlan
  storage: ServicePlan
  runner: ServicePlan
  sandbox: ServicePlan
  scheduler: ServicePlan
  gateway: ServicePlan
}

/** Each service with no more than it needs. */
export function planServices(settings: ServicesSettings, values: EnvironmentValues, secrets: Secrets): ServicePlans {
  const { ports } = settings
  // They are all here, but for further replicas of execution, and other cells.
  const elsewhere = (values['SERVICE_ADDRESSES'] ?? '').split(',').filter((each) => /^execution[=@]/.test(each))
  const given = {
    ...without(values, ['SERVICE_ADDRESSES']),
    ...(elsewhere.length > 0 && { SERVICE_ADDRESSES: elsewhere.join() }),
  }
  const givenTo = (name?: keyof typeof secretsOf) =>
    without(given, [...secretNames, ...Object.entries(secretsOf).flatMap(([of, names]) => (of === name ? [] : names))])
  const shared = givenTo()
  const { databaseUrl: DATABASE_URL, encryptionKey: ENCRYPTION_KEY } = secrets
  const INTERNAL_KEY = `${secrets.internalKey},${secrets.gatewayKeys.publicRing}`
  const RUNNER_KEY = secrets.runnerKey
  const RUNNER_CLOSED_PORTS = closedPorts(values, [...settings.gatewayPorts, ...Object.values(ports)], DATABASE_URL)
  const inner = { ...shared, DATABASE_URL, INTERNAL_KEY, RUNNER_KEY }
  return {
    catalog: withHealth('process-catalog', ports.catalogHealth, {
      ...inner,
      ENCRYPTION_KEY,
    }),
    execution: withHealth('execution', ports.executionHealth, {
      ...givenTo('execution'),
      DATABASE_URL,
      INTERNAL_KEY,
      RUNNER_KEY,
    }),
    storage: withHealth('storage', ports.storageHealth, {
      ...givenTo('storage'),
      DATABASE_URL,
      INTERNAL_KEY,
      RUNNER_KEY,
      ENCRYPTION_KEY,
    }),
    runner: withHealth('runner', ports.runnerHealth, {
      ...only(shared, forRunners),
      RUNNER_KEY,
      RUNNER_CLOSED_PORTS,
    }),
    sandbox: withHealth('sandbox', ports.sandboxHealth, {
      ...inner,
      ENCRYPTION_KEY,
      RUNNER_CLOSED_PORTS,
    }),
    scheduler: withHealth('scheduler', ports.schedulerHealth, {
      ...shared,
      DATABASE_URL,
      INTERNAL_KEY,
    }),
    gateway: withHealth('gateway', ports.gatewayHealth, {
      ...givenTo('gateway'),
      INTERNAL_KEY: secrets.gatewayKeys.privateRing,
      PORT: String(settings.port),
    }),
  }
}

function withHealth(name: ServiceName, port: number, env: EnvironmentValues): ServicePlan {
  return { name, env: { ...env, HEALTH_PORT: String(port) }, healthUrl: `http://127.0.0.1:${port}` }
}

function without(values: EnvironmentValues, names: string[]): EnvironmentValues {
  const dropped = new Set(names.flatMap((name) => [name, `${name}_FILE`]))
  return Object.fromEntries(Object.entries(values).filter(([name]) => !dropped.has(name)))
}

function only(values: EnvironmentValues, names: RegExp): EnvironmentValues {
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.test(name)))
}
