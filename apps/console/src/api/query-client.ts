import { QueryClient } from '@tanstack/react-query'
import { ProblemError } from './problem.ts'

const isLasting = (error: Error) => error instanceof ProblemError && error.problem.status < 500

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
