import { useEffect, useRef } from 'react'
import type { Process } from '../../api/queries/processes.ts'
import { Field } from '../../parts/field.tsx'
import layout from '../../parts/layout.module.css'
import { Card } from '../../parts/page.tsx'
import { useView } from '../../shell/view.ts'
import { VersionDiff } from './version-diff.tsx'

interface Props {
  team: string
  slug: string
  process: Process
  tags: readonly string[]
}

/** What differs between any two versions, which the address names as `a` and `b`; without `b` the current source. */
export function CompareVersions({ team, slug, process, tags }: Props) {
  const view = useView()
  const before = view.get('a')
  const after = view.get('b')
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (before !== '') place.current?.scrollIntoView({ block: 'nearest' })
  }, [before])
  const known = (tag: string) => tag === '' || tags.includes(tag)
  return (
    <div ref={place}>
      <Card title="Compare">
        <div className={layout.columns}>
          <Field label="Before">
            <select value={before} onChange={(event) => view.set({ a: event.target.value })}>
              <option value="">Choose a version</option>
              {!known(before) && <option value={before}>{before}</option>}
              {tags.map((tag) => (
                <option key={tag} value={tag}>
                  {tag}
                </option>
              ))}
            </select>
          </Field>
          <Field label="After">
            <select value={after} onChange={(event) => view.set({ b: event.target.value })}>
              <option value="">Current source</option>
              {!known(after) && <option value={after}>{after}</option>}
              {tags.map((tag) => (
                <option key={tag} value={tag}>
                  {tag}
                </option>
              ))}
            </select>
          </Field>
        </div>
        {before !== '' && <VersionDiff {...{ team, slug, process }} before={before} after={after || undefined} />}
      </Card>
    </div>
  )
}
