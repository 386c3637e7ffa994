/** What a command has to say: as JSON for programs, as a sentence or a table for people. */
export type Answer = { json: unknown } & (
  | { text: string }
  | { table: { head: string[]; rows: (string | undefined)[][] } }
)

/** An answer as it is printed on stdout, with its last line end. */
export function rendered(answer: Answer, asJson: boolean): string {
  if (asJson) return `${JSON.stringify(answer.json, null, 2)}\n`
  return 'text' in answer ? `${answer.text}\n` : tableText([answer.table.head, ...answer.table.rows])
}

function tableText(rows: (string | undefined)[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => (cell ?? '').padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}
