import { yamlOf } from './edit-yaml.ts'
import { newProcessFiles } from './process-folder.ts'
import { pathsOfItem } from './project-items.ts'
import type { Item } from './states.ts'

/** An item as texts by the names of files, to be compared by people. TypeScript is shown as the JavaScript that it becomes. */
export function stateTexts(item: Item | undefined): ReadonlyMap<string, string> {
  if (item === undefined) return new Map()
  if (item.kind === 'process') return newProcessFiles(item.name, item.state, {})
  if (item.kind === 'module') return new Map([[pathsOfItem(item.key)[0]!, item.state.sourceCode]])
  return new Map([[item.key, yamlOf(item.state)]])
}
