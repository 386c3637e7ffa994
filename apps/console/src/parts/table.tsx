import type { ReactNode } from 'react'
import styles from './table.module.css'

export interface Column<Row> {
  name: string
  cell: (row: Row) => ReactNode
  align?: 'end'
  /** Takes what is left of the width. */
  isMain?: boolean
}

interface Props<Row> {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** The row that the keys j and k have chosen. */
  chosen?: string
  /** Another look of it, such as of its cards on narrow screens. */
  className?: string
}

/** Rows with headings; on narrow screens each row is a card whose cells carry their heading. */
export function Table<Row>({ caption, columns, rows, keyOf, chosen, className = '' }: Props<Row>) {
  return (
    <table className={`${styles.table} ${className}`}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ name, align }) => (
            <th key={name} scope="col" className={align && styles.end}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} className={keyOf(row) === chosen ? styles.chosen : undefined}>
            {columns.map(({ name, cell, align, isMain }) => (
              <td key={name} data-name={name} className={`${align ? styles.end : ''} ${isMain ? styles.main : ''}`}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
