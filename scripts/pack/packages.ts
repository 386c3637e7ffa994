/** A package for users that is made of a workspace. */
export interface Package {
  /** The workspace, from the root. */
  folder: string
  name: string
  description: string
  /** Its programs and entries: name of the file that is made, and the source, from the workspace. */
  entries: Readonly<Record<string, string>>
  /** Other workspaces whose types its own mention, by name, with their sources. */
  typesOf?: Readonly<Record<string, string>>
  /** Files that it has as they are, at its root; their paths from the workspace. */
  files?: readonly string[]
  /** What package.json has beside the name, the version and what is known for all. */
  manifest: Readonly<Record<string, unknown>>
  /** Dependencies that only some entry needs; the others come with the package. */
  bundles?: 'ours' | 'all'
}

const node = '>=22.12'

export const packages: readonly Package[] = [
  {
    folder: 'libs/client',
    name: '@process-automation/client',
    description: 'Client of the Process Automation Service: processes, runs, storage, sandboxes',
    entries: { client: 'src/client.ts', sandbox: 'src/sandbox/connect-sandbox.ts' },
    typesOf: { '@automation/errors': 'libs/errors/src/failure.ts' },
    manifest: {
      exports: {
        '.': { types: './types/client/src/client.d.ts', default: './client.js' },
        './sandbox': { types: './types/client/src/sandbox/connect-sandbox.d.ts', default: './sandbox.js' },
        './package.json': './package.json',
      },
      engines: { node },
      sideEffects: false,
    },
  },
  {
    folder: 'libs/process-types',
    name: '@process-automation/process-types',
    description: 'What editors know of `svc` in the code of processes, in JavaScript and Python',
    entries: {},
    files: ['svc.d.ts', 'svc.pyi'],
    manifest: {
      types: './svc.d.ts',
      exports: {
        '.': { types: './svc.d.ts' },
        './svc.d.ts': './svc.d.ts',
        './svc.pyi': './svc.pyi',
        './package.json': './package.json',
      },
    },
  },
  {
    folder: 'apps/cli',
    name: '@process-automation/cli',
    description: 'The command line of the Process Automation Service: run, follow and keep the processes of a team',
    entries: { pas: 'src/main.ts' },
    // One program: what is in it needs no looking for, so that it starts quickly.
    bundles: 'all',
    // `pas types` writes them.
    files: ['../../libs/process-types/svc.d.ts', '../../libs/process-types/svc.pyi'],
    manifest: { bin: { pas: './pas.js' }, exports: { './package.json': './package.json' }, engines: { node } },
  },
]
