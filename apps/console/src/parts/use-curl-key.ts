import { restCurl, type RestCall } from '../rules/as-curl.ts'
import { useSession } from '../session/session-context.ts'
import { useCopy } from './use-copy.ts'
import { useKeys } from './use-keys.ts'

/** By `y` copies the call that reads what a page shows; without a call `y` is left to what is on the page. */
export function useCurlKey(team: string, call: RestCall | undefined): void {
  const { apiUrl } = useSession()
  const copy = useCopy()
  useKeys({ y: () => call !== undefined && copy(restCurl(apiUrl, team, call), 'The call is copied') })
}
