import {
  Document,
  isCollection,
  isMap,
  isNode,
  parseDocument,
  Scalar,
  stringify,
  type Pair,
  type ScalarTag,
  type Tags,
  visit,
  YAMLMap,
} from 'yaml'
import { isNumberText, losslessNumber } from '../exact-json.ts'
import { likewise } from './merge-text.ts'
import type { Change } from './merge-values.ts'

/** A number that would lose digits as one of JavaScript, as `parseLossless` gives it. */
const longNumber: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: isNumberText,
  test: /^-?(?=[\d.]{16}|[\d.]+[eE][-+]?\d{3})(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/,
  resolve: losslessNumber,
  stringify: ({ value }) => JSON.stringify(value),
}

/** Such numbers keep their digits, also where the text is written anew. */
const exactly = { intAsBigInt: true, customTags: (tags: Tags): Tags => [longNumber, ...tags] }

/** The document of a YAML text. Long numbers that name members are texts: an object can name none. */
function parsed(text: string): Document.Parsed {
  const document = parseDocument(text, { ...exactly, prettyErrors: true })
  visit(document, {
    Pair(_, { key }) {
      if (key instanceof Scalar && isNumberText(key.value)) key.value = JSON.stringify(key.value)
    },
  })
  return document
}

/** Each by itself: an object that comes twice would become an alias. */
const asScalars = (_: unknown, value: unknown): unknown => (isNumberText(value) ? new Scalar(value) : value)

/**
 * The value of a YAML text, with numbers as `parseLossless` gives them; an empty one is an empty map. Throws with line and column. As
 * `texts`, what is not quoted is a text, too: 1.10 keeps its zero.
 */
export function readYaml(text: string, scalars?: 'texts'): unknown {
  const document = scalars === 'texts' ? parseDocument(text, { schema: 'failsafe', prettyErrors: true }) : parsed(text)
  const [error] = document.errors
  if (error) throw new Error(error.message.split('\n')[0])
  const reviver = (_: unknown, value: unknown) => (typeof value === 'bigint' ? losslessNumber(String(value)) : value)
  return document.toJS({ maxAliasCount: 100, reviver }) ?? {}
}

/**
 * Makes changes to a YAML text and keeps all else: comments, order, and each line that no change is about as it is written.
 * New members at the top follow `order`.
 */
export function editYaml(text: string, changes: readonly Change[], order: readonly string[]): string {
  if (changes.length === 0) return text
  const document = parsed(text)
  const before = writeYaml(document)
  for (const { path, value } of changes) {
    if (value === undefined) remove(document, path)
    else set(document, path, value)
  }
  if (isMap(document.contents)) putInOrder(document, document.contents, order)
  return likewise(text, before, writeYaml(document))
}

/** A new YAML text. */
export function newYaml(comment: string, value: Record<string, unknown>): string {
  const document = new Document(Object.keys(value).length === 0 ? null : value, asScalars, exactly)
  document.commentBefore = comment
  return Object.keys(value).length === 0 ? `#${comment}\n` : writeYaml(document).replace(/^(#.*\n)\n/, '$1')
}

/** A value alone. */
export const yamlOf = (value: unknown): string => stringify(value, asScalars, exactly)

const writeYaml = (document: Document) => document.toString({ lineWidth: 0, flowCollectionPadding: true })

function set(document: Document.Parsed | Document, path: readonly string[], value: unknown): void {
  // What stands in the way, such as an empty value, gives place to a map.
  for (let length = 0; length < path.length; length += 1) {
    const holder = path.slice(0, length)
    const node = length === 0 ? document.contents : document.getIn(holder, true)
    if (isMap(node)) continue
    const map = new YAMLMap()
    if (length === 0) {
      document.contents = map
    } else document.setIn(holder, map)
  }
  const node = document.createNode(value, asScalars)
  const replaced = document.getIn(path, true)
  if (isCollection(node) && isCollection(replaced) && replaced.flow) node.flow = true
  if (isNode(replaced) && replaced.comment) node.comment = replaced.comment
  document.setIn(path, node)
}

function remove(document: Document, path: readonly string[]): void {
  if (!document.hasIn(path)) return
  document.deleteIn(path)
  // A map that only held what is gone goes, too.
  for (let holder = path.slice(0, -1); holder.length > 0; holder = holder.slice(0, -1)) {
    const node = document.getIn(holder, true)
    if (!isMap(node) || node.items.length > 0) return
    document.deleteIn(holder)
  }
}

function putInOrder(document: Document, map: YAMLMap, order: readonly string[]): void {
  const first = map.items[0]?.key
  const rank = ({ key }: Pair) => order.indexOf(String(key))
  const sorted: Pair[] = []
  for (const pair of map.items) {
    const own = rank(pair)
    // Only what came to the end out of order moves: to before the first that follows it.
    const at = own === -1 ? -1 : sorted.findIndex((other) => rank(other) > own)
    if (at === -1 || pair.key === null || hasSource(pair)) sorted.push(pair)
    else sorted.splice(at, 0, pair)
  }
  map.items = sorted
  // What is said above the first member, such as which schema it has, is said of the file.
  if (first !== sorted[0]?.key && isNode(first) && first.commentBefore) {
    const key = new Scalar(String(sorted[0]!.key))
    key.commentBefore = first.commentBefore
    delete first.commentBefore
    sorted[0]!.key = key
  }
}

/** Whether a member stands in the text that was read. */
function hasSource({ key }: Pair): boolean {
  return typeof key === 'object' && key !== null && 'range' in key && Array.isArray(key.range)
}
