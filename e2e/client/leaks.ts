/** What must never stand in an answer of ours: stacks, SQL, files and parts of the implementation. */
const leaks: readonly RegExp[] = [
  /\n\s+at .+[:(]/,
  /\bat .+\.[cm]?[jt]s:\d+/,
  /file:\/\//,
  /node_modules/,
  /node:[a-z_]+/,
  /prisma/i,
  /\b(apps|libs)\/[a-z-]+\/src\b/,
  /\bECONN[A-Z]+\b|\bENOENT\b|\bEPIPE\b/,
  /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\s+["\w.]+.*\b(FROM|VALUES|SET|WHERE)\b/,
  /\b(relation|column|constraint) "\w+"/,
  /violates .* constraint/,
  /invalid byte sequence|unsupported Unicode escape/,
  /\bgrpc\b|UNAVAILABLE:|INTERNAL:|INVALID_ARGUMENT:/i,
  /\bTypeError\b|\bRangeError\b|\bReferenceError\b|Cannot read propert|is not a function/,
  /postgres/i,
]

/** The first thing in a text that betrays the inside of the system; undefined where there is none. */
export function leakIn(text: string): string | undefined {
  for (const pattern of leaks) {
    const found = pattern.exec(text)
    if (found) return found[0].slice(0, 120)
  }
  return undefined
}
