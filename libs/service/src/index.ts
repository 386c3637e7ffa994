export { ConfigurationError, Environment } from './environment.ts'
export { failPoint } from './fail-point.ts'
export type { Check, Part, PartContext } from './part.ts'
