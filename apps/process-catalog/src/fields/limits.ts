/** The largest texts that are kept; the gateway's limit on bodies bounds all of them together. */
export const limits = {
  nameCharacters: 255,
  /** Of somebody from outside, with subject and issuer behind the name. */
  outsideNameCharacters: 1000,
  descriptionCharacters: 64 * 1024,
  readmeCharacters: 1024 * 1024,
  sourceCodeCharacters: 10 * 1024 * 1024,
  /** Of one run: the sources of its modules together, in bytes, and their number. */
  runModulesBytes: 10 * 1024 * 1024,
  runModuleCount: 500,
  /** Of one run: the variables that it sees together, in bytes as they are stored, and their number. */
  runVariablesBytes: 10 * 1024 * 1024,
  runVariableCount: 10_000,
  /** What the variables of all teams may hold in memory, as their runs see them. */
  keptVariablesBytes: 32 * 1024 * 1024,
  /**
   * Imports of a run that are not there: how many are compared with what it could have, with how many names, and how many
   * versions are named.
   */
  comparedImports: 10,
  comparedNames: 500,
  namedVersions: 20,
  parametersSchemaCharacters: 256 * 1024,
  commentCharacters: 10_000,
  publicTokenCharacters: 1024,
  /** That somebody may call from, as CIDRs; the longest is one of IPv6 that ends in one of IPv4. */
  addressCount: 100,
  addressCharacters: 49,
  frameAncestors: 20,
  /** Of a team, that have not ended. */
  serviceAccounts: 500,
  /** How long an access token may outlive its time: between reading which key signs and the signature, and for clocks that differ. */
  tokenSlackS: 60,
  tagCharacters: 255,
  tagCount: 100,
  originCharacters: 2048,
  dependencyCharacters: 1024,
  dependencyCount: 1000,
} as const
