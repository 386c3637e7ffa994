import { Outlet, useMatches } from '@tanstack/react-router'
import { SessionGate } from '../session/session-gate.tsx'

/** All pages: behind the sign-in, but for those that are open. */
export function Root() {
  const isOpen = useMatches({ select: (matches) => matches.some(({ staticData }) => staticData.isOpen) })
  if (isOpen) return <Outlet />
  return (
    <SessionGate>
      <Outlet />
    </SessionGate>
  )
}
