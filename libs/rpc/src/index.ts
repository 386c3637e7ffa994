export { ownContext, type CallContext, type Principal, type Role } from './context.ts'
export { inProcess } from './in-process.ts'
export { InProcessNetwork, type Neighbours } from './neighbours.ts'
export { served, type Client, type Handlers, type ServedService } from './service-types.ts'
