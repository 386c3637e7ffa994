import { Field } from '../../../parts/field.tsx'

const MOST_CHARACTERS = 100

/** Parameters of earlier runs, to be taken again. */
export function RecentSets({ of, onChoose }: { of: readonly string[]; onChoose: (set: unknown) => void }) {
  const sets = of.filter((set) => set !== '{}')
  if (sets.length === 0) return null
  return (
    <Field label="Earlier parameters">
      <select value="" onChange={(event) => event.target.value !== '' && onChoose(JSON.parse(event.target.value))}>
        <option value="">Choose</option>
        {sets.map((set) => (
          <option key={set} value={set}>
            {set.length > MOST_CHARACTERS ? `${set.slice(0, MOST_CHARACTERS)}…` : set}
          </option>
        ))}
      </select>
    </Field>
  )
}
