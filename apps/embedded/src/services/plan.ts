import { closedPorts } from '../closed-ports.ts'
import type { EnvironmentValues } from '../keys.ts'
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
}

const secretNames = ['DATABASE_URL', 'INTERNAL_KEY', 'ENCRYPTION_KEY', 'RUNNER_KEY', 'BOOTSTRAP_API_TOKEN']

/** What only execution has a use for: it alone speaks to Kafka. */
const forExecution = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD', 'KAFKA_SSL_CA', 'KAFKA_SSL_CERT', 'KAFKA_SSL_KEY']

/** What only storage has a use for: it alone speaks to the object store. */
const forStorage = ['S3_ACCESS_KEY', 'S3_SECRET_KEY']

/** What a runner may know of the operator's environment: the machine's own settings and its own, and no secret. */
const forRunners =
  /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|LANG|LC_\w+|TMPDIR|NODE_\w+|SSL_CERT_\w+|LOG_\w+|OTEL_\w+|RUN_\w+|RUNNER_\w+|DEPENDENCIES_\w+|NPM_REGISTRY\w*|PYPI_INDEX_URL\w*|REGISTRY_CA_FILE|ISOLATION|ISOLATION_\w+|EGRESS_ALLOW|CODE_GLOBAL_ALIAS|AGENT_POOLS|PARAMETERS_MAX_BYTES|RETURN_VALUE_MAX_BYTES|SHUTDOWN_GRACE_MS|FAIL_POINT|AUTOMATION_\w+)$/

export interface ServicePlans {
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
  const shared = without(values, [...secretNames, ...forExecution, ...forStorage])
  const EXECUTION_ADDRESSES = `127.0.0.1:${ports.execution}`
  const SANDBOX_ADDRESS = `127.0.0.1:${ports.sandbox}`
  const STORAGE_ADDRESS = `127.0.0.1:${ports.storage}`
  const CATALOG_ADDRESS = `127.0.0.1:${ports.catalog}`
  const SCHEDULER_ADDRESS = `127.0.0.1:${ports.scheduler}`
  const addresses = { CATALOG_ADDRESS, EXECUTION_ADDRESSES, SANDBOX_ADDRESS, SCHEDULER_ADDRESS, STORAGE_ADDRESS }
  const { databaseUrl: DATABASE_URL, internalKey: INTERNAL_KEY, encryptionKey: ENCRYPTION_KEY } = secrets
  const RUNNER_KEY = secrets.runnerKey
  const RUNNER_CLOSED_PORTS = closedPorts(values, [...settings.gatewayPorts, ...Object.values(ports)], DATABASE_URL)
  const inner = { ...shared, ...addresses, DATABASE_URL, INTERNAL_KEY, RUNNER_KEY }
  return {
    catalog: withHealth('process-catalog', ports.catalogHealth, {
      ...inner,
      ENCRYPTION_KEY,
      GRPC_PORT: String(ports.catalog),
    }),
    execution: withHealth('execution', ports.executionHealth, {
      ...without(values, [...secretNames, ...forStorage]),
      ...addresses,
      DATABASE_URL,
      INTERNAL_KEY,
      RUNNER_KEY,
      GRPC_PORT: String(ports.execution),
    }),
    storage: withHealth('storage', ports.storageHealth, {
      ...without(values, [...secretNames, ...forExecution]),
      ...addresses,
      DATABASE_URL,
      INTERNAL_KEY,
      RUNNER_KEY,
      ENCRYPTION_KEY,
      GRPC_PORT: String(ports.storage),
    }),
    runner: withHealth('runner', ports.runnerHealth, {
      ...only(shared, forRunners),
      EXECUTION_ADDRESSES,
      STORAGE_ADDRESS,
      RUNNER_KEY,
      RUNNER_CLOSED_PORTS,
    }),
    sandbox: withHealth('sandbox', ports.sandboxHealth, {
      ...inner,
      ENCRYPTION_KEY,
      RUNNER_CLOSED_PORTS,
      GRPC_PORT: String(ports.sandbox),
    }),
    scheduler: withHealth('scheduler', ports.schedulerHealth, {
      ...shared,
      ...addresses,
      DATABASE_URL,
      INTERNAL_KEY,
      GRPC_PORT: String(ports.scheduler),
    }),
    gateway: withHealth('gateway', ports.gatewayHealth, {
      ...shared,
      ...addresses,
      INTERNAL_KEY,
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
