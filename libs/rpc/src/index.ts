export { cancelled } from './context.ts'
export {
  asRunnerWith,
  asRunWith,
  asService,
  memberIn,
  operatorFor,
  ownContext,
  principalIn,
  type CallContext,
  type Member,
  type Principal,
  type Role,
  type RunnerPodId,
} from './context.ts'
export { inProcess, InProcessNetwork, type Neighbours } from './in-process.ts'
export { served, type Client, type Handlers, type ServedService } from './service-types.ts'
export { isUnreachable, notPassedOn } from './unreached.ts'
