import { openDatabase } from '@automation/database'
import { silentLogger as logger, type TestSchema } from '@automation/testing'
import { executionSchema } from '../src/service.ts'
import { Partitions } from '../src/store/partitions.ts'

/** Days ahead that have partitions: each connection learns of every one, which takes longer than most tests. */
export const partitionDays = 1

/** The tables of execution with the partitions of these days, which take longer to make than all else at a start. */
export const preparedSchema: TestSchema = {
  ...executionSchema,
  async prepare(url) {
    const database = await openDatabase({ url, schema: executionSchema.schema, poolSize: 1, logger })
    await new Partitions(database, partitionDays).ensure(Date.now())
    await database.close()
  },
}
