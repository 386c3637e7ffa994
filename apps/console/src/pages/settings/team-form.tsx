import { useState } from 'react'
import { useSaveTeam, type Team } from '../../api/queries/team.ts'
import { useProcessNames } from '../../api/queries/usage.ts'
import { changedMeanwhile } from '../../api/tagged.ts'
import { Button } from '../../parts/button.tsx'
import { ChangedMeanwhile } from '../../parts/changed-meanwhile.tsx'
import { Field } from '../../parts/field.tsx'
import { faultAt, faultUnder, FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { Card } from '../../parts/page.tsx'
import { Time } from '../../parts/time.tsx'
import { afterSave, isTyped, teamInput, typedTeam, type TypedTeam } from '../../rules/team-form.ts'
import { useMay } from '../../session/session-context.ts'
import { useToast } from '../../shell/toasts.tsx'

const zones = Intl.supportedValuesOf('timeZone')
const paths = [
  '/name',
  '/zoneId',
  '/parentTeamSlugs',
  '/allowedAddresses',
  '/errorHandlerConfig/processSlug',
  '/errorHandlerConfig/tag',
]

interface Props {
  team: string
  before: Team
  etag: string
}

interface Known {
  record: Team
  etag: string
  /** States that an own save has left, and that may still be shown for a moment. */
  left: readonly (string | undefined)[]
}

/** What a team decides for itself. */
export function TeamForm({ team, before, etag }: Props) {
  // What is typed began from this state, and is saved against its tag, whatever is read later.
  const [known, setKnown] = useState<Known>({ record: before, etag, left: [] })
  const [typed, setTyped] = useState(() => typedTeam(before))
  const set = (changes: Partial<TypedTeam>) => setTyped((old) => ({ ...old, ...changes }))
  const { data: processes } = useProcessNames(team)
  const save = useSaveTeam(team)
  const mayBuild = useMay('build')
  const say = useToast()
  const { error } = save

  const isOld = etag !== known.etag && !known.left.includes(etag) && !save.isPending
  const takeTheirs = () => {
    setKnown({ record: before, etag, left: [] })
    setTyped(typedTeam(before))
  }
  if (isOld && !isTyped(typed, known.record)) takeTheirs()
  const { updatedBy, updatedAt } = before
  const conflict = changedMeanwhile(error) ?? (isOld ? { etag, updatedBy, updatedAt } : undefined)

  const submit = (ifMatch: string | undefined) =>
    save.mutate(
      { etag: ifMatch, body: teamInput(typed) },
      {
        onSuccess: (saved) => {
          setKnown({ ...saved, left: [etag, ifMatch] })
          setTyped((now) => afterSave(now, typed, saved.record))
          say('The settings are saved')
        },
      },
    )
  return (
    <Card title="Team">
      <form
        className={layout.stack}
        onSubmit={(event) => {
          event.preventDefault()
          submit(known.etag)
        }}
      >
        <Field label="Name" fault={faultAt(error, '/name')}>
          <input
            required
            disabled={!mayBuild}
            value={typed.name}
            onChange={(event) => set({ name: event.target.value })}
          />
        </Field>
        <Field label="Time zone" hint="Schedules go by it." fault={faultAt(error, '/zoneId')}>
          <input
            required
            disabled={!mayBuild}
            list="zones"
            value={typed.zoneId}
            onChange={(event) => set({ zoneId: event.target.value })}
          />
        </Field>
        <datalist id="zones">
          {zones.map((zone) => (
            <option key={zone}>{zone}</option>
          ))}
        </datalist>
        <Field
          label="Error handler"
          hint="The process that runs after each execution that ends in an error."
          fault={faultAt(error, '/errorHandlerConfig/processSlug')}
        >
          <select disabled={!mayBuild} value={typed.handler} onChange={(event) => set({ handler: event.target.value })}>
            <option value="">none</option>
            {typed.handler !== '' && ![...(processes?.values() ?? [])].some(({ slug }) => slug === typed.handler) && (
              <option value={typed.handler}>{typed.handler}</option>
            )}
            {[...(processes ?? [])].map(([id, { name: words, slug }]) => (
              <option key={id} value={slug}>
                {words}
              </option>
            ))}
          </select>
        </Field>
        {typed.handler !== '' && (
          <Field
            label="Version of the error handler"
            hint="A tag or an alias; empty runs the current source."
            fault={faultAt(error, '/errorHandlerConfig/tag')}
          >
            <input disabled={!mayBuild} value={typed.tag} onChange={(event) => set({ tag: event.target.value })} />
          </Field>
        )}
        <Field
          label="Parent teams"
          hint="Teams whose modules and variables are inherited, the first by slug before the others; at most 5."
          fault={faultUnder(error, '/parentTeamSlugs')}
        >
          <input
            disabled={!mayBuild}
            value={typed.parents}
            onChange={(event) => set({ parents: event.target.value })}
          />
        </Field>
        <Field
          label="Allowed addresses"
          hint="Addresses and CIDRs that tokens of the team may be used from, yours among them; empty: from anywhere."
          fault={faultUnder(error, '/allowedAddresses')}
        >
          <textarea
            data-code
            rows={3}
            disabled={!mayBuild}
            spellCheck={false}
            value={typed.addresses}
            onChange={(event) => set({ addresses: event.target.value })}
          />
        </Field>
        <label className={layout.check}>
          <input
            type="checkbox"
            disabled={!mayBuild}
            checked={typed.isChecked}
            onChange={(event) => set({ isChecked: event.target.checked })}
          />
          <span>Refuse runs whose parameters are not as the schema of their process says</span>
        </label>
        <ChangedMeanwhile what="team" problem={conflict} onOverwrite={submit}>
          {isOld && (
            <Button
              onClick={() => {
                takeTheirs()
                save.reset()
              }}
            >
              Take theirs, and drop what I typed
            </Button>
          )}
        </ChangedMeanwhile>
        {changedMeanwhile(error) === undefined && <FormFault error={error} paths={paths} />}
        <div className={`${layout.row} ${layout.spread}`}>
          <span className={layout.soft}>
            {before.updatedAt && (
              <>
                Changed <Time at={before.updatedAt} /> by {before.updatedBy}
              </>
            )}
          </span>
          <Button
            type="submit"
            look="primary"
            isBusy={save.isPending}
            disabled={!mayBuild}
            title={mayBuild ? undefined : 'Needs the scope build'}
          >
            Save
          </Button>
        </div>
      </form>
    </Card>
  )
}
