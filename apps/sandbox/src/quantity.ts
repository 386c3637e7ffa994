const units: Record<string, number> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
}
const leastMb = 32
const mostMb = 2 ** 20

/** Cores from an amount as Kubernetes writes it: 2, "0.5", "500m". Undefined when it is none, or none above 0. */
export function cpusOf(value: unknown): number | undefined {
  const [, number = '', milli] = /^(\d{1,6}(?:\.\d{1,3})?)(m?)$/.exec(String(value)) ?? []
  const cpus = Number(number) / (milli === 'm' ? 1000 : 1)
  return cpus > 0 ? cpus : undefined
}

/** MiB from an amount as Kubernetes writes it: 536870912, "512Mi", "2G". Undefined when it is none of 32 MiB to 1 TiB. */
export function memoryMbOf(value: unknown): number | undefined {
  const [, number = '', unit = ''] = /^(\d{1,15}(?:\.\d{1,6})?)([kMGT]|[KMGT]i)?$/.exec(String(value)) ?? []
  const memoryMb = Math.floor((Number(number) * units[unit]!) / 2 ** 20)
  return number !== '' && memoryMb >= leastMb && memoryMb <= mostMb ? memoryMb : undefined
}
