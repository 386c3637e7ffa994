import { useEffect, useRef } from 'react'
import { JsonView } from '../../parts/json-view.tsx'
import layout from '../../parts/layout.module.css'
import { Table } from '../../parts/table.tsx'
import { answerOf, cellOf } from '../../rules/form-answer.ts'
import styles from './form.module.css'

interface Numbered {
  row: Record<string, unknown>
  index: number
}

/** What the process returned; the focus goes to it, so that it is read out. */
export function FormResult({ value }: { value: unknown }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    place.current?.focus()
  }, [])
  return (
    <div ref={place} tabIndex={-1} className={styles.result}>
      <h2>Sent</h2>
      <Result value={value} />
    </div>
  )
}

function Result({ value }: { value: unknown }) {
  const answer = answerOf(value)
  switch (answer.kind) {
    case 'nothing':
      return <p className={layout.soft}>Thank you, it is done.</p>
    case 'text':
      return <p className={styles.description}>{answer.text}</p>
    case 'link':
      return (
        <p>
          <a href={answer.url} target="_blank" rel="noreferrer">
            {answer.name}
          </a>
        </p>
      )
    case 'list':
      return (
        <ul>
          {answer.items.map((item, index) => (
            <li key={`${index} ${item}`}>{item}</li>
          ))}
        </ul>
      )
    case 'table':
      return (
        <Table
          caption="Answer"
          rows={answer.rows.map((row, index): Numbered => ({ row, index }))}
          keyOf={({ index }) => String(index)}
          columns={answer.columns.map((name) => ({ name, cell: ({ row }: Numbered) => cellOf(row[name]) }))}
        />
      )
    case 'json':
      return <JsonView value={answer.value} what="the answer" />
  }
}
