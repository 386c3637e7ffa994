import { pino, type DestinationStream, type Logger } from 'pino'
import { RepeatedLines } from './repeated-lines.ts'

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

export interface LoggerOptions {
  /** Name of the program, on every line. */
  service: string
  level: LogLevel
  /** Default: stderr. */
  destination?: DestinationStream
}

/**
 * A logger of JSON lines: `time`, `level` as a word, `service`, `msg` and fields. Calls that belong to a request or an
 * execution carry `requestId` and `executionId`; errors go under `err`. Fields that are named like a secret are masked,
 * up to two levels deep, and of an error only its own words are kept: no rows, no statements. A warning or an error of the
 * same failure is told once in 5 s, unless DEBUG lines are: `leftOut` of the next says how often it came meanwhile.
 */
export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  const repeated = new RepeatedLines()
  const isLimited = (number: number) => number === pino.levels.values['warn'] || number === pino.levels.values['error']
  return pino(
    {
      level,
      hooks: {
        logMethod(line, method, number) {
          const isWhole = !isLimited(number) || this.isLevelEnabled('debug')
          const written = isWhole ? line : repeated.written(line, this.bindings(), performance.now())
          if (written !== undefined) method.apply(this, written)
        },
      },
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorFields, error: errorFields, cause: errorFields },
      redact: { paths: redacted(), censor: '******' },
    },
    destination ?? standardError(),
  )
}

const secretNames = [
  ...['authorization', 'cookie', 'x-api-token', 'x-api-key', 'apiToken', 'accessToken', 'access_token', 'token'],
  ...['password', 'secret', 'clientSecret', 'internalKey', 'runnerKey', 'encryptionKey', 'databaseUrl'],
]

function redacted(): string[] {
  const quoted = secretNames.map((name) => `["${name}"]`)
  return quoted.flatMap((name) => [name, `*${name}`, `*.*${name}`])
}

interface ErrorFields {
  type: string
  message: string
  code?: string
  stack?: string
  cause?: ErrorFields | string
}

/** What is told of an error: pg's errors also hold rows and statements, which stay out. */
function errorFields(thrown: unknown, depth = 0): ErrorFields | string {
  if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : `thrown: ${typeof thrown}`
  const { name, message, stack, cause } = thrown
  const { code } = thrown as { code?: unknown }
  return {
    type: name,
    message,
    ...(typeof code === 'string' ? { code } : undefined),
    ...(stack === undefined ? undefined : { stack }),
    ...(cause === undefined || depth >= 4 ? undefined : { cause: errorFields(cause, depth + 1) }),
  }
}

/**
 * Written at once: the last words before a crash are those that matter. What it does not take, as on a full disk, waits until
 * it does, up to 1 MiB; that is no reason to end, nor for a program that ends to wait, as pino does by `flushSync`.
 */
function standardError(): DestinationStream {
  const stream = pino.destination({ dest: 2, sync: true, maxLength: 2 ** 20 }).on('error', () => undefined)
  return { write: (line) => void stream.write(line) }
}
