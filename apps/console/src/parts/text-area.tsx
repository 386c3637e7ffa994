import { useState, type TextareaHTMLAttributes } from 'react'

interface Props extends Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'value' | 'onChange' | 'onBlur'> {
  value: string
  /** Called with the text when the focus leaves. */
  onLeave: (text: string) => void
  isCode?: boolean
}

/** A text that counts once it is whole, such as JSON; while it is typed nobody reads it. */
export function TextArea({ value, onLeave, isCode = false, ...rest }: Props) {
  const [typed, setTyped] = useState<string>()
  return (
    <textarea
      {...rest}
      data-code={isCode || undefined}
      value={typed ?? value}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={() => {
        if (typed !== undefined) onLeave(typed)
        setTyped(undefined)
      }}
    />
  )
}
