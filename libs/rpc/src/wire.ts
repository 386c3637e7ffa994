export type { SigningKey } from './credentials.ts'
export type { WireLogger } from './handling.ts'
export { serve, type ServedPort, type ServeOptions } from './serve.ts'
export { WireNetwork, type WireOptions } from './wire-network.ts'
