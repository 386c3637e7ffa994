import { instantOf, localInput } from '../rules/local-times.ts'
import { useView } from '../shell/view.ts'
import layout from './layout.module.css'

/** From and to, kept in the address as `from` and `to`. */
export function TimeRange() {
  const view = useView()
  return (
    <>
      {(['from', 'to'] as const).map((name) => (
        <label key={name} className={layout.row}>
          <span className={layout.soft}>{name === 'from' ? 'From' : 'To'}</span>
          <input
            type="datetime-local"
            className={layout.filter}
            style={{ width: 'auto' }}
            value={localInput(view.get(name))}
            onChange={(event) => view.set({ [name]: instantOf(event.target.value), page: '' })}
          />
        </label>
      ))}
    </>
  )
}
