import { useState, type TextareaHTMLAttributes } from 'react'

interface Props extends Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'value' | 'onChange' | 'onBlur'> {
  value: string
  /** Called with the text at each key, so that a key that runs or saves finds it. */
  onText: (text: string) => void
  isCode?: boolean
}

/** A text that stands for a value, such as JSON; while it is typed it stays as it is typed. */
export function TextArea({ value, onText, isCode = false, ...rest }: Props) {
  const [typed, setTyped] = useState<string>()
  return (
    <textarea
      {...rest}
      data-code={isCode || undefined}
      value={typed ?? value}
      onChange={(event) => {
        setTyped(event.target.value)
        onText(event.target.value)
      }}
      onBlur={() => setTyped(undefined)}
    />
  )
}
