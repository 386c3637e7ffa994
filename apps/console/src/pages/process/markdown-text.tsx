import { Markdown, type MarkdownToJSX } from 'markdown-to-jsx/react'
import type { ComponentProps } from 'react'
import styles from './markdown-text.module.css'

/** A picture from elsewhere would not be loaded, and tells others who reads: it is a link. */
function Picture({ src, alt }: ComponentProps<'img'>) {
  return <Away href={src}>{alt || src}</Away>
}

/** The box of a task: it says what is stored, and can't be ticked here. */
function Box({ checked }: ComponentProps<'input'>) {
  return (
    <span role="img" aria-label={checked ? 'Done:' : 'To do:'}>
      {checked ? '☑' : '☐'}
    </span>
  )
}

/** Other schemes than these, such as `javascript:`, lead nowhere. */
const LEADS = /^(https?:|mailto:)/i

function Away({ href, children }: ComponentProps<'a'>) {
  if (href === undefined || !LEADS.test(href)) return <span>{children}</span>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  )
}

const options: MarkdownToJSX.Options = {
  disableParsingRawHTML: true,
  forceBlock: true,
  overrides: {
    // The page has its own heading of the first level.
    h1: { component: 'h2' },
    h2: { component: 'h3' },
    h3: { component: 'h4' },
    img: { component: Picture },
    a: { component: Away },
    input: { component: Box },
  },
}

/** Markdown as elements of the page; HTML in it is shown as the text that it is. */
export function MarkdownText({ text }: { text: string }) {
  return (
    <div className={styles.markdown}>
      <Markdown options={options}>{text}</Markdown>
    </div>
  )
}
