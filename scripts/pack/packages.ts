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
  /** Files that it has as they are: where they are in it, and their paths from the workspace. */
  files?: Readonly<Record<string, string>>
  /**
   * What package.json has beside the name, the version and what is known for all; absent where the workspace's own
   * package.json and LICENSE are those of the package, with the version of all.
   */
  manifest?: Readonly<Record<string, unknown>>
  /** Of its modules; `esm` where absent. */
  format?: 'esm' | 'cjs'
  /** Dependencies that only some entry needs; the others come with the package. */
  bundles?: 'ours' | 'all'
}

const node = '>=22.12'
const n8nNode = 'dist/nodes/ProcessAutomation'

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
    files: { 'svc.d.ts': 'svc.d.ts', 'svc.pyi': 'svc.pyi' },
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
    files: {
      'svc.d.ts': '../../libs/process-types/svc.d.ts',
      'svc.pyi': '../../libs/process-types/svc.pyi',
    },
    manifest: { bin: { pas: './pas.js' }, exports: { './package.json': './package.json' }, engines: { node } },
  },
  {
    folder: 'clients/n8n',
    name: '@process-automation/n8n-nodes-process-automation',
    description: 'The node of n8n',
    entries: {
      'dist/credentials/ProcessAutomationApi.credentials': 'credentials/ProcessAutomationApi.credentials.ts',
      [`${n8nNode}/ProcessAutomation.node`]: 'nodes/ProcessAutomation/ProcessAutomation.node.ts',
    },
    files: Object.fromEntries(
      ['ProcessAutomation.node.json', 'process-automation.svg', 'process-automation.dark.svg'].map((name) => [
        `${n8nNode}/${name}`,
        `nodes/ProcessAutomation/${name}`,
      ]),
    ),
    // n8n loads it by `require`.
    format: 'cjs',
  },
]
