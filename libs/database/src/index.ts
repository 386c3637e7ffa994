export { openDatabase, type Database, type DatabaseOptions } from './database.ts'
export { databaseFailure, isConnectionFailure } from './failure.ts'
