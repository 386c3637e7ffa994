import type { ReactNode, Ref } from 'react'

interface Props {
  label: string
  className?: string
  ref?: Ref<HTMLPreElement>
  children: ReactNode
}

/** Text with a scroll bar of its own, which the keyboard reaches. */
export function Scrollable({ label, className, ref, children }: Props) {
  return (
    // Keys scroll only what has the focus.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre ref={ref} tabIndex={0} role="region" aria-label={label} className={className}>
      {children}
    </pre>
  )
}
