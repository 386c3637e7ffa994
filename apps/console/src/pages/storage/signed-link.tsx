import { useState } from 'react'
import { useSignedLink } from '../../api/queries/storage.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog, DialogActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { FormFault } from '../../parts/form-fault.tsx'
import layout from '../../parts/layout.module.css'
import { Time } from '../../parts/time.tsx'
import { useCopy } from '../../parts/use-copy.ts'

const times = [
  [3600, '1 hour'],
  [86_400, '1 day'],
  [604_800, '7 days'],
] as const

/** Makes a link by which anybody may download a file for some time. */
export function SignedLink({ team, name, onClose }: { team: string; name: string; onClose: () => void }) {
  const [seconds, setSeconds] = useState('3600')
  const link = useSignedLink(team)
  const copy = useCopy()
  return (
    <Dialog title="A link for others" isOpen onClose={onClose}>
      <form
        className={layout.stack}
        onSubmit={(event) => {
          event.preventDefault()
          link.mutate({ path: name, expiresInSeconds: Number(seconds) })
        }}
      >
        <p>
          Whoever has the link may download <code>{name}</code> until it ends. It can't be taken back.
        </p>
        <Field label="It works for">
          <select value={seconds} onChange={(event) => setSeconds(event.target.value)}>
            {times.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </Field>
        <FormFault error={link.error} />
        {link.data && (
          <Field label="Link" hint="Copied links work until they end.">
            <textarea data-code readOnly rows={4} value={link.data.url} onFocus={(event) => event.target.select()} />
          </Field>
        )}
        {link.data && (
          <p className={layout.soft}>
            It ends <Time at={link.data.expiresAt} />.
          </p>
        )}
        <DialogActions>
          <Button onClick={onClose}>Close</Button>
          {link.data && (
            <Button look="primary" onClick={() => copy(link.data.url, 'The link is copied')}>
              Copy
            </Button>
          )}
          <Button type="submit" look={link.data ? 'plain' : 'primary'} isBusy={link.isPending}>
            {link.data ? 'Make another' : 'Make the link'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
