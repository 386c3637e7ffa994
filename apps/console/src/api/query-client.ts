import { QueryClient } from '@tanstack/react-query'
import { ProblemError } from './problem.ts'

/** Whether the next answer would be the same. One that took all its time would take it again, of the service as well. */
const isLasting = (error: Error) =>
  error instanceof ProblemError && (error.problem.status < 500 || error.problem.status === 504)

/** What the server has told, kept for all pages. The team's stream makes it anew when something changes. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // Without a connection a call fails at once: one that waited for it would still be made after it was given up.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      staleTime: 15_000,
      retry: (failures, error) => !isLasting(error) && failures < 2,
      refetchOnWindowFocus: true,
    },
  },
})
