import type { Schemas } from '../../api/client.ts'
import { Button } from '../../parts/button.tsx'
import { DialogActions } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { icons } from '../../parts/icons.tsx'
import layout from '../../parts/layout.module.css'
import { useCopy } from '../../parts/use-copy.ts'

interface Props {
  account: Schemas['NewServiceAccount']
  onClose: () => void
}

/** What signs the program in. The service does not show it again. */
export function NewToken({ account: { apiToken, clientId, clientSecret }, onClose }: Props) {
  const copy = useCopy()
  return (
    <div className={layout.stack}>
      <p className={layout.notice}>Keep it now: it is shown this once.</p>
      <Field label="API token" hint="For the header x-api-token, and for signing in here.">
        <textarea data-code readOnly rows={3} value={apiToken} onFocus={(event) => event.target.select()} />
      </Field>
      <details>
        <summary>As OAuth 2.0 client credentials</summary>
        <div className={layout.tight} style={{ paddingBlockStart: 'var(--space-2)' }}>
          <Field label="Client id">
            <input readOnly value={clientId} onFocus={(event) => event.target.select()} />
          </Field>
          <Field label="Client secret">
            <input readOnly value={clientSecret} onFocus={(event) => event.target.select()} />
          </Field>
        </div>
      </details>
      <DialogActions>
        <Button look="primary" onClick={() => copy(apiToken, 'The API token is copied')}>
          <icons.copy /> Copy the API token
        </Button>
        <Button onClick={onClose}>Done</Button>
      </DialogActions>
    </div>
  )
}
