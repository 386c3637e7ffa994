export { TeamLimitRows, type TeamLimitAnswer, type TeamSuspension } from './team-limit-rows.ts'
export { abortable, atMost, pause, within } from './waits.ts'
export { AddressList, isAddressRange } from './address-list.ts'
export { BoundedRows } from './bounded-rows.ts'
export { readArguments, type Usage } from './arguments.ts'
export { readDatabaseUrl } from './database-url.ts'
export { ConfigurationError, Environment, isSafeAddress } from './environment.ts'
export { DeadlineError, DeadlineWorker, type JobOptions } from './deadline-worker.ts'
export { failPoint } from './fail-point.ts'
export { Batcher, KeyedBatcher } from './batcher.ts'
export { Health, type HealthReport } from './health.ts'
export { createLogger, logLevels, type LoggerOptions, type LogLevel } from './logger.ts'
export { createMetrics } from './metrics.ts'
export { serveOperations, type OperationsServer } from './operations.ts'
export type { Check, Part, PartContext } from './part.ts'
export { Periodic } from './periodic.ts'
export { readShutdownGraceMs, runProgram, type Program, type ProgramContext, type Running } from './program.ts'
export { runPart, type PartProgram } from './run-part.ts'
export {
  addressesByPackage,
  readGivenAddresses,
  readServiceAddresses,
  readServicePorts,
  type ServiceAddresses,
  type ServicePorts,
  type CalledService,
} from './service-addresses.ts'
export { StopOrder } from './stop-order.ts'
export { readTeamLimits, type TeamLimits } from './team-limits.ts'
export { Tally } from './tally.ts'
export { TeamTurns } from './team-turns.ts'
export { EventLoopTurns } from './event-loop-turns.ts'
export type { Logger } from 'pino'
export type { Registry } from 'prom-client'
export { readSharedRunnerKey } from './wire-config.ts'
export { watchProcessorTime } from './deadline-worker.ts'
export { openTracer } from './program.ts'
