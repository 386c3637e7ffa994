import { Button } from './button.tsx'
import { icons } from './icons.tsx'
import layout from './layout.module.css'

interface Props {
  page: number
  limit: number
  total: number
  hasNextPage: boolean
  onPage: (page: number) => void
}

/** The way through a list that comes in numbered pages; nothing where all is on one. */
export function Pages({ page, limit, total, hasNextPage, onPage }: Props) {
  if (page === 0 && !hasNextPage) return null
  const first = page * limit + 1
  return (
    <nav aria-label="Pages" className={layout.row}>
      <Button disabled={page === 0} onClick={() => onPage(page - 1)}>
        <icons.left /> Newer
      </Button>
      <Button disabled={!hasNextPage} onClick={() => onPage(page + 1)}>
        Older <icons.right />
      </Button>
      <span className={layout.soft}>
        {first.toLocaleString('en')}–{Math.min(first + limit - 1, total).toLocaleString('en')} of{' '}
        {total > 10_000 ? 'more than 10,000' : total.toLocaleString('en')}
      </span>
    </nav>
  )
}
