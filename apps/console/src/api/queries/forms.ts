import { useMutation, useQuery } from '@tanstack/react-query'
import { call, type Schemas } from '../client.ts'
import { parsedExactly } from '../../rules/exact-json.ts'
import { textsOf } from '../../rules/form-files.ts'

export type Form = Schemas['Form']

/** A form, for who has a session of its team or the token of its link. */
export interface FormPlace {
  team: string
  slug: string
  token: string
}

function addressOf({ team, slug, token }: FormPlace, values: Record<string, string> = {}): string {
  const query = new URLSearchParams({ ...values, ...(token !== '' && { token }) }).toString()
  return `/api/${encodeURIComponent(team)}/forms/${encodeURIComponent(slug)}${query && `?${query}`}`
}

export function useForm(place: FormPlace) {
  return useQuery({
    queryKey: [place.team, 'forms', place],
    staleTime: Infinity,
    // It would make objects of numbers that are kept as their texts.
    structuralSharing: false,
    queryFn: async () => parsedExactly(await (await call(addressOf(place))).text()) as Form,
  })
}

export interface Submission {
  values: Record<string, unknown>
  files: ReadonlyMap<string, readonly File[]>
}

/** Submits a form and waits for what the process returns. */
export function useSubmit(place: FormPlace) {
  return useMutation({
    mutationFn: async ({ values, files }: Submission): Promise<unknown> => {
      const hasFiles = [...files.values()].some((some) => some.length > 0)
      const init: RequestInit = hasFiles
        ? { body: multipart(values, files) }
        : { body: JSON.stringify(values), headers: { 'Content-Type': 'application/json' } }
      const response = await call(addressOf(place, { wait: 'true' }), { ...init, method: 'POST' })
      const text = await response.text()
      return text === '' ? undefined : parsedExactly(text)
    },
  })
}

function multipart(values: Submission['values'], files: Submission['files']): FormData {
  const data = new FormData()
  for (const [name, value] of Object.entries(values)) for (const text of textsOf(value)) data.append(name, text)
  for (const [name, some] of files) for (const file of some) data.append(name, file)
  return data
}
