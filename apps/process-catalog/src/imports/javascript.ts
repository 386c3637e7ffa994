import { parse, type Node, type Program } from 'acorn'
import type { LiteralImport } from './imports.ts'

type AnyNode = Node & Record<string, unknown>

/** Literal imports of a JavaScript source: `import`, `export … from`, `import()`, `require()` and `svc.import()`. */
export function javascriptImports(source: string): LiteralImport[] {
  const program = parsed(source, 'script') ?? parsed(source, 'module')
  if (program === undefined) return []
  const found: LiteralImport[] = []
  const open: AnyNode[] = [program as unknown as AnyNode]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const literal = importOf(node)
    if (literal !== undefined) found.push(literal)
    for (const value of Object.values(node)) {
      // Not spread: there may be more elements than a call takes arguments.
      if (Array.isArray(value)) for (const each of value) if (isNode(each)) open.push(each)
      if (isNode(value)) open.push(value)
    }
  }
  return found
}

function parsed(source: string, sourceType: 'script' | 'module'): Program | undefined {
  try {
    const options = { allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true, allowHashBang: true }
    return parse(source.replace(/^\uFEFF/, ''), { ecmaVersion: 'latest', sourceType, ...options })
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value
}

function importOf(node: AnyNode): LiteralImport | undefined {
  if (node.type !== 'CallExpression') return named(node['source'])
  const callee = node['callee'] as AnyNode
  const [name, tag] = node['arguments'] as AnyNode[]
  if (callee.type === 'Identifier' && callee['name'] === 'require') return named(name)
  const property = callee.type === 'MemberExpression' ? (callee['property'] as AnyNode) : undefined
  // Whatever `svc` is called there.
  return property?.['name'] === 'import' || property?.['value'] === 'import' ? named(name, textOf(tag)) : undefined
}

function named(node: unknown, tag?: string): LiteralImport | undefined {
  const name = textOf(node)
  return name === undefined ? undefined : { name, tag }
}

/** A string, also in backquotes without expressions. */
function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value']
  if (node.type !== 'TemplateLiteral') return undefined
  const [only, ...more] = node['quasis'] as { value: { cooked?: string | null } }[]
  return more.length === 0 ? (only?.value.cooked ?? undefined) : undefined
}
