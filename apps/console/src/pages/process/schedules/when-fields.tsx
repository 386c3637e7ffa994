import { useId, useState } from 'react'
import { ProblemError } from '../../../api/problem.ts'
import { Button } from '../../../parts/button.tsx'
import { Field } from '../../../parts/field.tsx'
import type { TypedSchedule } from '../../../rules/schedule-form.ts'
import tab from '../tab.module.css'

interface Props {
  typed: TypedSchedule
  set: (changes: Partial<TypedSchedule>) => void
  /** The team's. */
  zone: string
  /** What the preview was refused for. */
  error: Error | null
}

const kinds = [
  ['cron', 'Again and again'],
  ['time', 'Once'],
] as const

const presets = [
  ['*/5 * * * *', 'Every 5 minutes'],
  ['0 * * * *', 'Hourly'],
  ['0 8 * * *', 'Daily at 8'],
  ['0 8 * * MON-FRI', 'Working days at 8'],
  ['0 8 * * MON', 'Mondays at 8'],
  ['0 8 1 * *', 'First of the month'],
  ['0 8 L * *', 'Last of the month'],
] as const

/** Asks for a cron, or for a time with its zone. */
export function WhenFields({ typed, set, zone, error }: Props) {
  const fault = error === null ? undefined : error instanceof ProblemError ? whyNot(error) : error.message
  return (
    <>
      <div role="group" aria-label="How often" className={tab.pills}>
        {kinds.map(([kind, name]) => (
          <Button key={kind} aria-pressed={typed.kind === kind} onClick={() => set({ kind })}>
            {name}
          </Button>
        ))}
      </div>
      {typed.kind === 'cron' ? (
        <>
          <Field
            label="Cron"
            hint={`Minute, hour, day, month, weekday; seconds may come first. Read in the team's zone, ${zone}.`}
            fault={fault}
          >
            <input
              data-code
              required
              spellCheck={false}
              autoComplete="off"
              value={typed.cron}
              onChange={(event) => set({ cron: event.target.value })}
            />
          </Field>
          <div role="group" aria-label="Common crons" className={tab.pills}>
            {presets.map(([cron, name]) => (
              <Button key={cron} aria-pressed={typed.cron === cron} onClick={() => set({ cron })}>
                {name}
              </Button>
            ))}
          </div>
        </>
      ) : (
        <div className={tab.fields}>
          <Field label="Date and time" fault={fault}>
            <input
              type="datetime-local"
              step={1}
              required
              value={typed.time}
              onChange={(event) => set({ time: event.target.value })}
            />
          </Field>
          <ZoneField value={typed.zone} team={zone} onChange={(chosen) => set({ zone: chosen })} />
        </div>
      )}
    </>
  )
}

const whyNot = ({ problem, message }: ProblemError): string =>
  problem.errors?.map((each) => each.message).join('; ') ?? message

const zones = Intl.supportedValuesOf('timeZone')

/** Asks for a time zone; one that is not known is not taken over. */
function ZoneField({ value, team, onChange }: { value: string; team: string; onChange: (zone: string) => void }) {
  const id = useId()
  const [text, setText] = useState(value)
  const isKnown = text === team || text === 'UTC' || zones.includes(text)
  return (
    <>
      <Field label="Time zone" fault={isKnown ? undefined : 'There is no such zone; choose one such as Europe/Berlin'}>
        <input
          list={id}
          required
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={(event) => {
            const typed = event.target.value
            setText(typed)
            if (typed === team || typed === 'UTC' || zones.includes(typed)) onChange(typed)
          }}
        />
      </Field>
      <datalist id={id}>
        <option value={team}>the team&apos;s</option>
        {zones.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  )
}
