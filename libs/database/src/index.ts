export { openDatabase, type Database, type DatabaseOptions } from './database.ts'
export { readEncryptionKeys } from './encryption-keys.ts'
export { databaseFailure, isConnectionFailure } from './failure.ts'
export { SecretBox, type Sealed } from './secret-box.ts'
