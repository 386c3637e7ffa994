export { testDatabase, type TestDatabase } from './test-database.ts'
export { until } from './until.ts'
export { operatorContext, serviceContext, userContext } from './call-contexts.ts'
export { silentLogger, testContext } from './part-context.ts'
