import { useQueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useMemo, useState } from 'react'
import type { Execution } from '../api/queries/executions.ts'
import { SignInsContext } from '../session/session-context.ts'
import { EventApplier } from './apply-events.ts'
import type { StreamState } from './event-source.ts'
import { listenToTeam } from './team-connection.ts'

/** An execution as lists show it, as it was after the change that is told. */
type ExecutionListener = (execution: Execution) => void

interface TeamLive {
  state: StreamState
  /** Tells of each change of an execution until the function that it gives is called. */
  onExecution: (listener: ExecutionListener) => () => void
}

export const TeamLiveContext = createContext<TeamLive | undefined>(undefined)

/** Keeps the queries of a team at what happens, over the stream that all tabs share. Once for a page, in the frame. */
export function useTeamStream(team: string): TeamLive {
  const queries = useQueryClient()
  const signIns = useContext(SignInsContext)
  const [state, setState] = useState<StreamState>({ is: 'connecting' })
  const [{ tell, onExecution }] = useState(executionListeners)
  useEffect(() => {
    const applier = new EventApplier(queries, team)
    let isFirst = true
    let hasEnded = false
    const leave = listenToTeam(team, (message) => {
      if (message.kind === 'gap') return applier.gap()
      if (message.kind === 'event') {
        if (message.type !== 'execution') return applier.other(message.type)
        const execution = JSON.parse(message.data) as Execution
        applier.execution(execution)
        return tell(execution)
      }
      setState(message.state)
      // What the page has read before the stream was open may be old already.
      if (message.state.is === 'live' && isFirst) applier.gap()
      if (message.state.is === 'live') isFirst = false
      // Over the stream that tabs share, each is told also that somebody has signed in again in another one.
      if (message.state.is === 'ended' || (hasEnded && message.state.is === 'live'))
        void queries.invalidateQueries({ queryKey: ['session'] })
      if (message.state.is === 'ended') hasEnded = true
      if (message.state.is === 'live') hasEnded = false
    })
    return () => {
      leave()
      applier.stop()
    }
  }, [queries, team, tell, signIns])
  return useMemo(() => ({ state, onExecution }), [state, onExecution])
}

function executionListeners() {
  const listeners = new Set<ExecutionListener>()
  return {
    tell: (execution: Execution) => {
      for (const listener of listeners) listener(execution)
    },
    onExecution: (listener: ExecutionListener) => {
      listeners.add(listener)
      return () => {
        listeners.delete(listener)
      }
    },
  }
}

/** Calls the listener with each change of an execution of the team. */
export function useExecutionEvents(listener: ExecutionListener): void {
  const live = useContext(TeamLiveContext)
  const onExecution = live?.onExecution
  useEffect(() => onExecution?.(listener), [onExecution, listener])
}
