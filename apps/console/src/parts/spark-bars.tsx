import styles from './spark-bars.module.css'

interface Bar {
  good: number
  bad: number
}

const WIDTH = 4
const HEIGHT = 22

/** Counts over time as small bars; what they say stands beside them in words, so screen readers skip them. */
export function SparkBars({ of }: { of: readonly Bar[] }) {
  const most = Math.max(1, ...of.map(({ good, bad }) => good + bad))
  const high = (count: number) => (count === 0 ? 0 : Math.max(1.5, (count / most) * HEIGHT))
  const width = of.length * WIDTH
  return (
    <svg aria-hidden="true" className={styles.bars} width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`}>
      <rect className={styles.ground} x="0" y={HEIGHT - 1} width={width} height="1" />
      {of.map(({ good, bad }, at) => (
        <g key={at}>
          <rect className={styles.good} x={at * WIDTH} y={HEIGHT - high(good)} width="3" height={high(good)} />
          <rect
            className={styles.bad}
            x={at * WIDTH}
            y={HEIGHT - high(good) - high(bad)}
            width="3"
            height={high(bad)}
          />
        </g>
      ))}
    </svg>
  )
}
