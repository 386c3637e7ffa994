import { useEffect, useEffectEvent, useRef } from 'react'
import { Button } from './button.tsx'

interface Props {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  fetchNextPage: () => unknown
}

/** The end of a list that is read by a cursor: further rows come when it is seen, or by its button. */
export function Pager({ hasNextPage, isFetchingNextPage, fetchNextPage }: Props) {
  const end = useRef<HTMLDivElement>(null)
  const more = useEffectEvent(() => hasNextPage && !isFetchingNextPage && fetchNextPage())
  useEffect(() => {
    if (end.current === null) return undefined
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting === true && more(), {
      rootMargin: '400px',
    })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [hasNextPage])
  if (!hasNextPage) return null
  return (
    <div ref={end} style={{ display: 'flex', justifyContent: 'center' }}>
      <Button isBusy={isFetchingNextPage} onClick={() => fetchNextPage()}>
        Load more
      </Button>
    </div>
  )
}
