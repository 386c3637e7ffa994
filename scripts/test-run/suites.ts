/** A set of tests that one run of vitest covers. */
export interface Suite {
  name: string
  config: string
  /** Which test files; all of the configuration when empty. */
  files: string[]
  env: Record<string, string | undefined>
}

/** A kind of outside server: the variables that name one, and whether the project has tests for it. */
interface OutsideServer {
  name: string
  variables: string[]
  /** Its tests are for it alone: paths among them are run with it. */
  isOwn?: boolean
  suite: (environment: NodeJS.ProcessEnv) => Suite
}

const embeddedDatabase = {
  DATABASE_URL: undefined,
  KAFKA_BROKERS: undefined,
  S3_ENDPOINT: undefined,
  KUBECONFIG: undefined,
}

const unit: Suite = { name: 'unit', config: 'vitest.config.ts', files: [], env: embeddedDatabase }

const isolation: Suite = { name: 'isolation', config: 'vitest.isolation.config.ts', files: [], env: embeddedDatabase }

const consolePages: Suite = {
  name: 'console',
  config: 'e2e/console/vitest.config.ts',
  files: [],
  env: embeddedDatabase,
}

const e2e = (shape: string): Suite => ({
  name: `e2e ${shape}`,
  config: 'e2e/vitest.config.ts',
  files: [],
  env: { ...embeddedDatabase, E2E_SHAPE: shape },
})

const outside: OutsideServer[] = [
  {
    name: 'PostgreSQL',
    variables: ['DATABASE_URL'],
    suite: ({ DATABASE_URL }) => ({
      name: 'outside PostgreSQL',
      config: 'vitest.config.ts',
      files: ['libs/database/', 'libs/events/', 'apps/process-catalog/', 'apps/execution/', 'apps/scheduler/'],
      env: { DATABASE_URL, KAFKA_BROKERS: undefined },
    }),
  },
  {
    name: 'Kafka',
    variables: ['KAFKA_BROKERS'],
    suite: ({ KAFKA_BROKERS }) => ({
      name: 'outside Kafka',
      config: 'vitest.config.ts',
      files: ['apps/execution/test/kafka-', 'apps/execution/test/restored'],
      env: { DATABASE_URL: undefined, KAFKA_BROKERS },
    }),
  },
  {
    name: 'S3',
    variables: ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY', 'S3_SECRET_KEY'],
    suite: ({ S3_ENDPOINT }) => ({
      name: 'outside S3',
      config: 'vitest.config.ts',
      files: ['libs/objects/', 'apps/storage/'],
      env: { ...embeddedDatabase, S3_ENDPOINT },
    }),
  },
  {
    name: 'Kafka with S3',
    variables: ['KAFKA_BROKERS', 'S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY', 'S3_SECRET_KEY'],
    suite: ({ KAFKA_BROKERS, S3_ENDPOINT }) => ({
      ...e2e('services'),
      name: 'outside Kafka with S3',
      files: ['e2e/suite/team-purge'],
      env: { ...embeddedDatabase, E2E_SHAPE: 'services', KAFKA_BROKERS, S3_ENDPOINT },
    }),
  },
  {
    name: 'Kubernetes',
    isOwn: true,
    variables: ['KUBECONFIG', 'SANDBOX_BASE_IMAGE', 'SANDBOX_DAEMON_IMAGE'],
    suite: ({ KUBECONFIG, SANDBOX_BASE_IMAGE, SANDBOX_DAEMON_IMAGE }) => ({
      name: 'outside Kubernetes',
      config: 'vitest.config.ts',
      files: ['apps/sandbox/test/kubernetes/'],
      env: { ...embeddedDatabase, KUBECONFIG, SANDBOX_BASE_IMAGE, SANDBOX_DAEMON_IMAGE },
    }),
  },
]

export interface TestRequest {
  /** Names of suites: unit, e2e, console, isolation, outside. Console and isolation only where they are named, or with all. */
  only: string[] | undefined
  /**
   * Paths of tests; with any, only the unit suite runs, or where it alone is named the one over REST, or those for outside
   * servers.
   */
  files: string[]
  shape: string
  all: boolean
}

/** The suites that a request asks for, and in words those that are left out and why. */
export function suitesFor(
  request: TestRequest,
  environment: NodeJS.ProcessEnv,
): { suites: Suite[]; leftOut: string[] } {
  const isOutside = request.only?.join() === 'outside'
  if (request.files.length > 0 && !isOutside) {
    const named = new Map([
      ['e2e', e2e(request.shape)],
      ['isolation', isolation],
      ['console', consolePages],
    ])
    const suite = named.get(request.only?.join() ?? '') ?? suiteOf(request.files, environment)
    return { suites: [{ ...suite, files: request.files }], leftOut: [] }
  }
  const wanted = (name: string) => request.only === undefined || request.only.includes(name)
  const hasBrowser = request.only?.includes('console') ?? request.all
  const attacks = request.only?.includes('isolation') ?? request.all
  const suites = [
    ...(wanted('unit') ? [unit] : []),
    ...(wanted('e2e') ? [e2e(request.shape)] : []),
    ...(hasBrowser ? [consolePages] : []),
    ...(attacks ? [isolation] : []),
  ]
  if (!request.all && request.only?.includes('outside') !== true) return { suites, leftOut: [] }
  const leftOut: string[] = []
  for (const { name, variables, suite } of outside) {
    const missing = variables.filter((variable) => !environment[variable])
    if (missing.length > 0) leftOut.push(`${name}: ${missing.join(', ')} not set`)
    else suites.push(...narrowed(suite(environment), request.files))
  }
  return { suites, leftOut }
}

/** Of a suite those tests that are named, if any is its own; all where none are named. */
function narrowed(suite: Suite, paths: string[]): Suite[] {
  if (paths.length === 0) return [suite]
  const files = paths.filter((path) => isBelow(path, suite))
  return files.length === 0 ? [] : [{ ...suite, files }]
}

const isBelow = (path: string, { files }: Suite) => files.some((folder) => path.startsWith(folder))

/** The tests of this machine, or those of an outside server where all paths are among its own. */
function suiteOf(paths: string[], environment: NodeJS.ProcessEnv): Suite {
  const owned = outside.flatMap(({ isOwn, suite }) => (isOwn === true && suite ? [suite(environment)] : []))
  if (paths.every((path) => /\/test\/(isolation|limits)(\/|$)/.test(path))) return isolation
  return owned.find((suite) => paths.every((path) => isBelow(path, suite))) ?? unit
}
