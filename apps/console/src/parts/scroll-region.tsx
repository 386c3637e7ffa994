import type { HTMLAttributes, Ref } from 'react'

interface Props extends HTMLAttributes<HTMLDivElement> {
  label: string
  ref?: Ref<HTMLDivElement>
}

/** A part of a page that scrolls by itself; the keyboard reaches it, so that it can be scrolled without a mouse. */
export function ScrollRegion({ label, ...rest }: Props) {
  const region = { role: 'region', 'aria-label': label, tabIndex: 0 }
  return <div {...region} {...rest} />
}
