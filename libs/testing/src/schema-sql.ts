import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startPostgres } from '@automation/postgres'
import { PrismaPg } from '@prisma/adapter-pg'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'
import { destination, pino } from 'pino'

/**
 * Prints the SQL that makes the tables of a schema.prisma, as a start for a migration written by hand:
 * `node libs/testing/src/schema-sql.ts apps/execution/prisma/schema.prisma`. The engine wants
 * a database to talk to, so one is started for it.
 */
const path = resolve(process.argv[2] ?? 'prisma/schema.prisma')
const content = await readFile(path, 'utf8')
const dataDir = await mkdtemp(join(tmpdir(), 'automation-schema-'))
const server = await startPostgres({ dataDir, logger: pino({ level: 'warn' }, destination(2)), durable: false })
const engine = await schemaEngine()
const { stdout } = await engine.diff({
  from: { tag: 'empty' },
  to: { tag: 'schemaDatamodel', files: [{ path, content }] },
  script: true,
  exitCode: null,
  filters: { externalTables: [], externalEnums: [] },
})
console.log(stdout)
await server.stop()
await rm(dataDir, { recursive: true })
process.exit(0)

// The package expects a bundler that turns an import of .wasm into an instance.
async function schemaEngine() {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg')
  const wasm = createRequire(import.meta.url)
    .resolve('@prisma/schema-engine-wasm')
    .replace('.js', '_bg.wasm')
  const imports = { './schema_engine_bg.js': bindings as unknown as WebAssembly.ModuleImports }
  const { instance } = await WebAssembly.instantiate(await readFile(wasm), imports)
  bindings.__wbg_set_wasm(instance.exports)
  ;(instance.exports['__wbindgen_start'] as () => void)()
  return bindings.SchemaEngine.new(
    { datamodels: [[path, content]] },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(new PrismaPg({ connectionString: server.url })),
  )
}
