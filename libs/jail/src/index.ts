export { CpuGroups, type CpuWeight } from './cpu-groups.ts'
export { directoryExcess } from './directory-excess.ts'
export { findInterpreter, isOlder, type Interpreter } from './starter.ts'
export { Launcher, ownDirectory, removeLeftOvers, type Launched, type LauncherOptions } from './launch.ts'
export {
  endedForMemory,
  usedPartOfGroup,
  fileBytes,
  ownMemoryBytes,
  peakOf,
  privateBytes,
  proportionalBytes,
  tellsMemory,
} from './memory.ts'
export {
  below,
  endBelow,
  firstChildOf,
  openFiles,
  processesByParent,
  processOf,
  readOf,
  timesOf,
  type Process,
} from './processes.ts'
export {
  jailPythonPath,
  launcherModulesPath,
  nodeMount,
  shownRoot,
  type JailProgram,
  type ProgramMount,
} from './program.ts'
export { readIsolationConfig, type NetworkName, type IsolationConfig, type IsolationLevel } from './isolation/config.ts'
export {
  candidates,
  chooseIsolation,
  describeIsolation,
  networkHelpers,
  summarizeIsolation,
  type Candidate,
  type Trial,
  type Isolation,
} from './isolation/isolation.ts'
