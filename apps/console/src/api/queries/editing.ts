import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { isOvertaken, type Edit } from '../../rules/unsaved.ts'
import { apiOf, dataOf, type Schemas } from '../client.ts'
import { changedMeanwhile, exactOf, type Tagged } from '../tagged.ts'
import { keepProcess, processKeys } from './processes.ts'

type Process = Schemas['Process']
export type SourceCheck = Schemas['SourceCheck']

/** What is wrong with a source that is not saved; while it is asked anew, what was found before. */
export const useSourceCheck = (
  team: string,
  programmingLanguage: Process['programmingLanguage'],
  sourceCode: string,
  isWanted: boolean,
) =>
  useQuery({
    queryKey: [team, 'sources', 'check', programmingLanguage, sourceCode],
    queryFn: ({ signal }) =>
      dataOf(apiOf(team).POST('/sources/check', { body: { programmingLanguage, sourceCode }, signal })),
    enabled: isWanted,
    staleTime: 60_000,
    gcTime: 60_000,
    placeholderData: (before) => before,
  })

/**
 * Saves an edited source. Where the record has changed meanwhile and its source has not, the edit takes nothing away,
 * so it is saved all the same.
 */
export const useSaveSource = (team: string) => {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ id, edit }: { id: string; edit: Edit }): Promise<Tagged<Process>> => {
      const params = { path: { identifier: id } }
      const save = (etag: string) =>
        exactOf<Process>(
          apiOf(team).PATCH('/processes/{identifier}', {
            params: { ...params, header: { 'If-Match': etag } },
            body: { sourceCode: edit.text },
            parseAs: 'text',
          }),
        )
      try {
        return await save(edit.base.etag)
      } catch (error) {
        if (!(error instanceof Error) || changedMeanwhile(error) === undefined) throw error
        const now = await exactOf<Process>(apiOf(team).GET('/processes/{identifier}', { params, parseAs: 'text' }))
        keepProcess(queries, team, now)
        if (isOvertaken(edit, { text: now.record.sourceCode, etag: now.etag })) throw error
        return save(now.etag)
      }
    },
    onSuccess: (saved) => {
      keepProcess(queries, team, saved)
      void queries.invalidateQueries({ queryKey: processKeys.lists(team) })
    },
  })
}
