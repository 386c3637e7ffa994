const form = /^[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** A place in a trace, as W3C writes it in `traceparent`: 32 and 16 hexadecimal digits, and the flags. */
export interface TracePlace {
  traceId: string
  spanId: string
  flags: number
}

/** Undefined for what has another form. */
export function readTraceparent(text: string | undefined): TracePlace | undefined {
  const [, traceId, spanId, flags] = (text === undefined ? null : form.exec(text)) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** As the header `traceparent` has it (W3C Trace Context). */
export function traceparentOf({ traceId, spanId, flags }: TracePlace): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
}
