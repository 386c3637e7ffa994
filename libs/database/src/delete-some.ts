/**
 * The text of a statement that deletes at most `limit` (a number, or a parameter) of the rows of which `whose` holds. Not for
 * partitioned tables: a row's place is that in its own partition.
 */
export const deleteSomeOf = (table: string, whose: string, limit: number | string): string =>
  `DELETE FROM ${table} WHERE ctid = ANY (ARRAY (SELECT ctid FROM ${table} WHERE ${whose} LIMIT ${limit}))`
