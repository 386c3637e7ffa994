import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readArguments } from './arguments.ts'
import { advisories } from './check/advisories.ts'
import { chartSteps } from './check/charts.ts'
import { conflictFaults } from './check/conflicts.ts'
import { declaredIn, importFaults, readSources } from './check/imports.ts'
import { licenceFaults } from './check/licences.ts'
import { linkFaults } from './check/links.ts'
import { migrationFaults } from './check/migrations.ts'
import { program, runSteps, type Step } from './check/steps.ts'

const help = `npm run check [-- --only STEP,STEP]

Format, lint with types and import boundaries, types, proto lint, a contract and migrations that leave the last release
working, generated-code drift, declared imports, licences and known advisories of what production needs, links of documents, what merges left,
and the chart where helm is there. Changes nothing. Advisories come on any day: they fail a package-lock.json that is not committed yet,
and are a warning for one that is.
`

const steps: Step[] = [
  program('generated', ['node', 'scripts/generate.ts', '--check'], 'run `npm run generate` and commit what it makes'),
  program('types', ['tsc', '--noEmit', '-p', '.'], 'mend the types; `npx tsc --noEmit -p .` shows them alone'),
  program('lint', ['oxlint'], 'mend what it names, or run `npx oxlint --fix`; boundaries are in scripts/boundaries.ts'),
  program('format', ['oxfmt', '--check', '.'], 'run `npm run format`'),
  program('proto', ['buf', 'lint'], 'mend the proto files; the rules are in buf.yaml'),
  program(
    'contract',
    ['buf', 'breaking', '--against', 'proto/released.binpb.gz'],
    'services of the last release call these too: add fields and methods beside the old ones, which go a release after nobody uses them',
  ),
  ofFiles(
    'migrations',
    migrationFaults,
    'leave the release before working: add beside the old, and remove a release later (`-- unused since X.Y.Z`)',
  ),
  ofFiles(
    'imports',
    async (root, tracked) => importFaults(await readSources(root, tracked), declaredIn(root)),
    'declare the package in the workspace, or import what scripts/boundaries.ts allows there',
  ),
  ofFiles(
    'licences',
    (root) => licenceFaults(root),
    'take another package, or allow its licence in scripts/check/licences.ts where it may be given on',
  ),
  {
    name: 'audit',
    advice: 'update what it names (`npm audit` shows it alone), or override its version in package.json',
    run: () => advisories(),
  },
  ofFiles('links', linkFaults, 'mend the documents: links, anchors and paths must lead somewhere'),
  ofFiles('conflicts', conflictFaults, 'resolve the merge: keep one side of each conflict'),
]

/** A step that finds faults in files, a line for each; it gets the root and the paths of the files from there. */
function ofFiles(
  name: string,
  find: (root: string, tracked: string[]) => string[] | Promise<string[]>,
  advice: string,
): Step {
  return {
    name,
    advice,
    run: async () => {
      const faults = await find(process.cwd(), trackedFiles())
      return { ok: faults.length === 0, output: faults.join('\n') }
    },
  }
}

/** Files under version control and new ones that are not ignored, as long as they are there. */
function trackedFiles(): string[] {
  const list = (...args: string[]) => execFileSync('git', ['ls-files', ...args], { encoding: 'utf8' }).split('\n')
  const gone = new Set(list('--deleted'))
  return list('--cached', '--others', '--exclude-standard').filter((path) => path !== '' && !gone.has(path))
}

const { values } = readArguments(help, { only: { type: 'string' } })
process.chdir(resolve(dirname(fileURLToPath(import.meta.url)), '..'))
const only = values.only?.split(',')
const charts = chartSteps()
const { passed, failed } = await runSteps(
  [...steps, ...charts.steps].filter(({ name }) => only === undefined || only.includes(name)),
  Math.min(availableParallelism(), 4),
)
for (const text of charts.missing) console.log(`none  charts       ${text}`)
console.log(`${passed} checks passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
