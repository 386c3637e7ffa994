export { CpuGroups, type CpuWeight } from './cpu-groups.ts'
export { directoryExcess } from './directory-excess.ts'
export { findInterpreter, type Interpreter } from './interpreter.ts'
export { Launcher, ownDirectory, removeLeftOvers, type Launched, type LauncherOptions } from './launch.ts'
export { fileBytes, privateBytes, proportionalBytes, tellsMemory } from './memory.ts'
export { below, openFiles, processesByParent, processOf, readOf, timesOf, type Process } from './processes.ts'
export {
  jailPythonPath,
  nodePlace,
  shownRoot,
  type JailProgram,
  type ProgramLink,
  type ProgramPlace,
} from './program.ts'
export { Turns } from './turns.ts'
export { networkHelpers } from './wall/helper.ts'
export { readWallConfig, type NetworkName, type WallConfig, type WallName } from './wall/config.ts'
export {
  candidates,
  chooseWall,
  describeWall,
  summarizeWall,
  type Candidate,
  type Trial,
  type Wall,
} from './wall/wall.ts'
