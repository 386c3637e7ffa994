import type { ReactNode } from 'react'
import type { IconName } from './icon-outlines.ts'
import { icons } from './icons.tsx'
import styles from './status.module.css'

type Tone = 'good' | 'bad' | 'warn' | 'calm' | 'run'

const looks: Record<string, [tone: Tone, icon: IconName, word: string]> = {
  CREATED: ['calm', 'clock', 'Created'],
  QUEUED: ['warn', 'clock', 'Queued'],
  DEQUEUED: ['run', 'clock', 'Starting'],
  RUNNING: ['run', 'play', 'Running'],
  PENDING: ['warn', 'clock', 'Pending'],
  FINISHED: ['good', 'check', 'Finished'],
  KILLED: ['calm', 'stop', 'Killed'],
  REJECTED: ['bad', 'stop', 'Rejected'],
  ERROR: ['bad', 'cross', 'Error'],
  ACTIVE: ['good', 'check', 'Active'],
  INSTALLING: ['run', 'clock', 'Installing'],
  INSTALLED: ['good', 'check', 'Installed'],
  FAILED: ['bad', 'cross', 'Failed'],
  TIMED_OUT: ['calm', 'clock', 'Timed out'],
  PAUSED: ['calm', 'pause', 'Paused'],
  ENABLED: ['good', 'check', 'Enabled'],
  DISABLED: ['calm', 'pause', 'Disabled'],
}

/** A state as icon, words and colour. */
export function Pill({ tone, icon, children }: { tone: Tone; icon: IconName; children: ReactNode }) {
  const Icon = icons[icon]
  return (
    <span className={`${styles.status} ${styles[tone]}`}>
      <Icon />
      {children}
    </span>
  )
}

/** A status of the service. */
export function Status({ of }: { of: string }) {
  const [tone, icon, word] = looks[of] ?? ['calm', 'dot', of.charAt(0) + of.slice(1).toLowerCase().replaceAll('_', ' ')]
  return (
    <Pill tone={tone} icon={icon}>
      {word}
    </Pill>
  )
}
