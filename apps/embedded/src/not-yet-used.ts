import type { Logger } from '@automation/service'
import { gives, type EnvironmentValues } from './keys.ts'

/** Settings that promise something which comes with a later release. */
const later = ['OTEL_EXPORTER_OTLP_ENDPOINT']

/** The settings given that this release does not act on. */
export function notYetUsed(values: EnvironmentValues): string[] {
  return later.filter((name) => gives(values, name))
}

/** One warning for each, so that nobody relies on it. */
export function warnOfNotYetUsed(values: EnvironmentValues, logger: Logger): void {
  for (const name of notYetUsed(values)) logger.warn(`${name} is set, but this release does not use it yet`)
}
