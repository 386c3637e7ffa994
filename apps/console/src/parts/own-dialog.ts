import { createContext, type RefObject } from 'react'

/** The dialog that a part stands in, if any. */
export const OwnDialog = createContext<RefObject<HTMLDialogElement | null> | undefined>(undefined)
