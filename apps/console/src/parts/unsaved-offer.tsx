import { Button } from './button.tsx'
import layout from './layout.module.css'
import { Time } from './time.tsx'
import type { Editing } from './use-edit.ts'

/** What an editor says of a text that is not saved. */
export const unsavedWords = ({ isKept }: Editing): string => (isKept ? 'Unsaved, kept in this browser' : 'Unsaved')

/** Offers the unsaved text of before, where there is one. */
export function UnsavedOffer({ editing: { offer, takeOffer, dropOffer } }: { editing: Editing }) {
  if (offer === undefined) return null
  return (
    <div role="status" className={layout.notice}>
      <p>
        There is unsaved text of yours, <Time at={offer.at} />.
      </p>
      <div className={layout.row}>
        <Button onClick={takeOffer}>Go on with it</Button>
        <Button look="quiet" onClick={dropOffer}>
          Forget it
        </Button>
      </div>
    </div>
  )
}
