import { ownZone } from '../../../rules/local-times.ts'

/** A time as the clocks of a zone show it: `Mon 23 Nov 2026, 08:00:00`. */
export function timeInZone(at: string, zone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).format(new Date(at))
}

/** The same with the name of the zone, and what the clocks of who looks show where that is something else. */
export function timeWithZone(at: string, zone: string): string {
  const [there, here] = [zone, ownZone].map((one) => timeInZone(at, one))
  return `${there} in ${zone}${there === here ? '' : `, ${here} here`}`
}
