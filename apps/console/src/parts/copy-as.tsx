import { Button } from './button.tsx'
import { icons } from './icons.tsx'
import layout from './layout.module.css'
import { useCopy } from './use-copy.ts'

/** Copies what a page would do as a call by curl, or as process code. Neither has a token in it. */
export function CopyAs({ curl, code }: { curl: () => string; code?: () => string }) {
  const copy = useCopy()
  return (
    <div className={layout.row} role="group" aria-label="Copy as">
      <Button look="quiet" title="Copy as curl" onClick={() => copy(curl(), 'The call is copied')}>
        <icons.copy /> curl
      </Button>
      {code && (
        <Button look="quiet" title="Copy as process code" onClick={() => copy(code(), 'The code is copied')}>
          <icons.copy /> svc code
        </Button>
      )}
    </div>
  )
}
