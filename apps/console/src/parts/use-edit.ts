import { useEffect, useRef, useState } from 'react'
import { follow, isOffered, isUnsaved, type Edit, type KeptText, type Stored } from '../rules/unsaved.ts'
import { forgetText, keepText, keptText, textOfThisPage, type FoundText } from '../session/kept-texts.ts'
import { useSession } from '../session/session-context.ts'
import { useToast } from '../shell/toasts.tsx'

/** How long after a change the text is kept in the browser. */
const KEEP_AFTER_MS = 300

export interface Editing {
  edit: Edit
  setText: (text: string) => void
  /** Goes on from another state, such as from what another has saved. */
  setEdit: (edit: Edit) => void
  /** A text was saved; what was written since then is unsaved. */
  saved: (text: string, now: Stored) => void
  /** Whether the unsaved text is in the browser by now. */
  isKept: boolean
  /** An unsaved text of before. */
  offer: KeptText | undefined
  takeOffer: () => void
  dropOffer: () => void
}

/**
 * The edit of a source, of the process or module of this id: it follows what is stored as long as nothing is lost by it, and
 * is kept here until it is saved. What is offered is of another page, and stays until it is answered.
 */
export function useEdit(team: string, id: string, stored: Stored): Editing {
  const session = useSession()
  const person = session.clientId ?? session.name
  const say = useToast()
  const [edit, setEdit] = useState<Edit>(() => {
    const { text, base } = textOfThisPage(person, team, id) ?? { text: stored.text, base: stored }
    return { text, base }
  })
  const followed = follow(edit, stored)
  if (followed !== edit) setEdit(followed)

  const [kept, setKept] = useState<Edit>()
  const [offer, setOffer] = useState<FoundText>()
  useEffect(() => {
    let isGone = false
    keptText(person, team, id)
      .then((found) => {
        if (!isGone) setOffer(found)
      })
      .catch((error: unknown) => say(failure(error)))
    return () => {
      isGone = true
    }
  }, [person, team, id, say])

  const offered = isOffered(offer, stored) && offer.text !== edit.text ? offer : undefined
  // What the last keys wrote is kept when the page is left before its time.
  const waiting = useRef<() => void>(undefined)
  useEffect(() => () => waiting.current?.(), [person, team, id])
  useEffect(() => {
    const text = isUnsaved(edit) ? { ...edit, at: new Date().toISOString() } : undefined
    const keep = () => {
      waiting.current = undefined
      keepText(person, team, id, text)
        .then(() => setKept(edit))
        .catch((error: unknown) => say(failure(error)))
    }
    waiting.current = keep
    const timer = setTimeout(keep, KEEP_AFTER_MS)
    return () => {
      clearTimeout(timer)
      waiting.current = undefined
    }
  }, [person, team, id, edit, say])

  /** An offer that is answered does not come again; one that is taken is kept as this page's before it is forgotten. */
  const answer = async (found: FoundText, isTaken: boolean) => {
    if (isTaken) await keepText(person, team, id, { text: found.text, base: found.base, at: new Date().toISOString() })
    await forgetText(found)
  }

  return {
    edit,
    setText: (text) => setEdit((before) => ({ ...before, text })),
    setEdit,
    saved: (text, now) => setEdit((before) => ({ text: before.text === text ? now.text : before.text, base: now })),
    isKept: kept === edit,
    offer: offered,
    takeOffer: () => {
      if (offered !== undefined) {
        setEdit({ text: offered.text, base: offered.base })
        answer(offered, true).catch((error: unknown) => say(failure(error)))
      }
      setOffer(undefined)
    },
    dropOffer: () => {
      if (offered !== undefined) answer(offered, false).catch((error: unknown) => say(failure(error)))
      setOffer(undefined)
    },
  }
}

const failure = (error: unknown) =>
  new Error(`The browser does not keep unsaved text: ${error instanceof Error ? error.message : String(error)}`)
