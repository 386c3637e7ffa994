import { Pill } from '../../../parts/status.tsx'

const words: Record<number, string> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No content',
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  408: 'Timeout',
  409: 'Conflict',
  413: 'Too large',
  429: 'Too many',
  500: 'Error',
  503: 'Unavailable',
}

/** An HTTP status as icon, number, word and colour. */
export function StatusCode({ of }: { of: number }) {
  const [tone, icon] =
    of < 400 ? (['good', 'check'] as const) : of < 500 ? (['warn', 'warning'] as const) : (['bad', 'cross'] as const)
  return (
    <Pill tone={tone} icon={icon}>
      {of} {words[of] ?? ''}
    </Pill>
  )
}
