/** The largest texts that are kept, in characters; the gateway's limit on bodies bounds all of them together. */
export const limits = {
  name: 255,
  description: 64 * 1024,
  readme: 1024 * 1024,
  sourceCode: 10 * 1024 * 1024,
  /** Of one run: the sources of its modules together, in bytes, and their number. */
  runModulesBytes: 10 * 1024 * 1024,
  runModules: 500,
  /** Of one run: the variables that it sees together, in bytes as they are stored. */
  runVariablesBytes: 10 * 1024 * 1024,
  /** Imports of a run that are not there: how many are compared with what it could have, with how many names, and how many versions are named. */
  comparedImports: 10,
  comparedNames: 500,
  namedVersions: 20,
  parametersSchema: 256 * 1024,
  comment: 10_000,
  publicToken: 1024,
  tag: 255,
  tags: 100,
  dependency: 1024,
  dependencies: 1000,
} as const
