import { lazy, Suspense, useState } from 'react'
import { dayAndClockOf } from '../rules/local-times.ts'
import { Button } from './button.tsx'
import styles from './chart.module.css'

export interface Series {
  name: string
  /** A variable of theme.css, such as `--good`. */
  color: string
  values: readonly (number | null)[]
}

export interface ChartProps {
  title: string
  /** The beginning of each bucket, in milliseconds since 1970. */
  times: readonly number[]
  series: readonly Series[]
  /** How a value is written, such as `1.2 s`. */
  format?: (value: number) => string
  /** How a time is written, in the table. */
  formatTime?: (at: number) => string
  /** What the axis of values goes by, the smallest first; decimal steps where absent. */
  steps?: readonly number[]
  look?: 'bars' | 'lines'
  height?: number
  /** Called with the times that were chosen by dragging. */
  onBrush?: (from: number, to: number) => void
}

// Texts are drawn first: a picture takes longer.
const Canvas = lazy(async () => {
  await untilIdle()
  return import('./chart-canvas.tsx')
})

/** Until the browser has drawn what it has and has nothing else to do, at most half a second. */
const untilIdle = (): Promise<void> =>
  new Promise((resolve) => {
    // Safari has no such callback.
    if ('requestIdleCallback' in window) requestIdleCallback(() => resolve(), { timeout: 500 })
    else setTimeout(resolve)
  })

/** Values over time as a picture, and as a table for who does not see it or wants the figures. */
export function Chart(props: ChartProps) {
  const { title, times, series, format = String, formatTime = dayAndClockOf, height = 180 } = props
  const [isTable, setTable] = useState(false)
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.head}>
        <strong>{title}</strong>
        <span className={styles.legend}>
          {series.map(({ name, color }) => (
            <span key={name}>
              <i style={{ background: `var(${color})` }} aria-hidden="true" />
              {name}
            </span>
          ))}
        </span>
        <Button look="quiet" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Table
        </Button>
      </figcaption>
      {!isTable && (
        <div aria-hidden="true" style={{ minHeight: height }}>
          <Suspense fallback={null}>
            {times.length > 0 && <Canvas {...props} height={height} format={format} />}
          </Suspense>
        </div>
      )}
      <div
        className={isTable ? styles.table : 'visually-hidden'}
        {...(isTable && { tabIndex: 0, role: 'region', 'aria-label': `${title}, table` })}
      >
        <table>
          <caption className="visually-hidden">{title}</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {series.map(({ name }) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((at, index) => (
              <tr key={at}>
                <th scope="row">{formatTime(at)}</th>
                {series.map(({ name, values }) => {
                  const value = values[index]
                  return <td key={name}>{value == null ? '–' : format(value)}</td>
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}
