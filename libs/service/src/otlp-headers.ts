import type { Environment } from './environment.ts'

// As HTTP has names (RFC 9110); values are kept to what can be seen, and blanks.
const nameForm = /^[\w!#$%&'*+.^`|~-]+$/
const valueForm = /^[\x20-\x7e]+$/

/**
 * Reads OTEL_EXPORTER_OTLP_HEADERS, `name=value` separated by commas with what is special in values percent-encoded, as the
 * specification of OpenTelemetry has it. Faults are noted in `env`; none tells any of it, as it has tokens as a rule.
 */
export function readOtlpHeaders(env: Environment): Record<string, string> {
  const name = 'OTEL_EXPORTER_OTLP_HEADERS'
  const pairs = (env.secret(name) ?? '').split(',').filter((pair) => pair.trim() !== '')
  const headers = pairs.map(headerOf)
  if (headers.includes(undefined))
    env.fault(name, 'must be name=value, separated by commas, with what is special in values percent-encoded')
  return Object.fromEntries(headers.filter((header) => header !== undefined))
}

function headerOf(pair: string): [string, string] | undefined {
  const at = pair.indexOf('=')
  const [name, value] = [pair.slice(0, Math.max(0, at)).trim(), decoded(pair.slice(at + 1).trim())]
  return nameForm.test(name) && value !== undefined && valueForm.test(value) ? [name, value] : undefined
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
