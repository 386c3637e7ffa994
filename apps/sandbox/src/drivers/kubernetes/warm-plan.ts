import type { Image } from '../../catalogue.ts'
import type { PodSeen } from '../../cluster/pod-seen.ts'
import { specLabel } from './sandbox-pod.ts'

/** What is wanted, and what is there. */
export interface WarmSight {
  /** Images by the spec of their pods. */
  wanted: Map<string, Image>
  /** Pods that belong to nobody. */
  warm: PodSeen[]
  /** Whether its daemon's key can still be made. */
  opens(pod: PodSeen): boolean
  /** Of all pods: those that were taken keep theirs. */
  names: Set<string>
}

export interface WarmPlan {
  make: { name: string; spec: string; image: Image }[]
  remove: PodSeen[]
}

/**
 * Which pods to make and which to remove, so that of each image as many are kept ready as it says. Names are the lowest
 * numbers that are free, and the highest go first: replicas that see the same do the same, and so nothing twice.
 */
export function warmPlan({ wanted, warm, opens, names }: WarmSight): WarmPlan {
  const isGood = (pod: PodSeen) => pod.end === undefined && opens(pod) && wanted.has(pod.labels[specLabel] ?? '')
  const plan: WarmPlan = { make: [], remove: warm.filter((pod) => !isGood(pod)) }
  for (const [spec, image] of wanted) {
    const good = warm
      .filter((pod) => isGood(pod) && pod.labels[specLabel] === spec)
      .toSorted((one, two) => numberOf(one) - numberOf(two))
    plan.remove.push(...good.slice(image.warm))
    let missing = image.warm - good.length
    for (let number = 0; missing > 0; number++) {
      const name = `warm-${spec}-${number}`
      if (names.has(name)) continue
      plan.make.push({ name, spec, image })
      missing -= 1
    }
  }
  return plan
}

function numberOf({ name }: PodSeen): number {
  return Number(name.split('-').at(-1))
}
