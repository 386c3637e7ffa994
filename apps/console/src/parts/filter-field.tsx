import { useState, type Ref } from 'react'
import { useView } from '../shell/view.ts'
import layout from './layout.module.css'

interface Props {
  /** What the address calls the text. */
  name: string
  label: string
  placeholder?: string
  ref?: Ref<HTMLInputElement>
}

/** The filter of a list by a text that the address has; the list begins at its first page again. */
export function FilterField({ name, label, placeholder = label, ref }: Props) {
  const view = useView()
  const inAddress = view.get(name)
  const [text, setText] = useState(inAddress)
  // The address comes behind what is typed: only what it has from elsewhere goes into the field.
  const [typed, setTyped] = useState<readonly string[]>([])
  const [seen, setSeen] = useState(inAddress)
  if (inAddress !== seen) {
    setSeen(inAddress)
    const at = typed.indexOf(inAddress)
    setTyped(at < 0 ? [] : typed.slice(at + 1))
    if (at < 0) setText(inAddress)
  }
  return (
    <input
      ref={ref}
      type="search"
      className={layout.filter}
      aria-label={label}
      placeholder={placeholder}
      value={text}
      onChange={(event) => {
        const { value } = event.target
        setText(value)
        setTyped([...typed, value])
        view.set({ [name]: value, page: '' }, { byTyping: true })
      }}
    />
  )
}
