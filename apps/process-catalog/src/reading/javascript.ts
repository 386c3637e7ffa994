import { isBuiltin } from 'node:module'
import { parse, type Node, type Program } from 'acorn'
import type { Findings } from './findings.ts'

type AnyNode = Node & Record<string, unknown>

/**
 * Finds `import`, `export … from`, `import()` and `require()`, which may mean a module or a package, and `svc.import()`,
 * which means a module. Without a program, only comments are found.
 */
export function readJavascript(source: string, findings: Findings): void {
  const program = parsed(source, 'script', findings) ?? parsed(source, 'module', findings)
  if (program === undefined) return
  const open: AnyNode[] = [program as unknown as AnyNode]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    readNode(node, findings)
    for (const value of Object.values(node)) {
      // Not spread: there may be more elements than a call takes arguments.
      if (Array.isArray(value)) for (const each of value) if (isNode(each)) open.push(each)
      if (isNode(value)) open.push(value)
    }
  }
}

function parsed(source: string, sourceType: 'script' | 'module', findings: Findings): Program | undefined {
  try {
    return parse(source.replace(/^\uFEFF/, ''), {
      ecmaVersion: 'latest',
      sourceType,
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
      allowHashBang: true,
      onComment: (_, text) => findings.comment(text),
    })
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value
}

function readNode(node: AnyNode, findings: Findings): void {
  if (node.type !== 'CallExpression') return either(textOf(node['source']), findings)
  const callee = node['callee'] as AnyNode
  const [name, tag] = node['arguments'] as AnyNode[]
  if (callee.type === 'Identifier' && callee['name'] === 'require') return either(textOf(name), findings)
  const property = callee.type === 'MemberExpression' ? (callee['property'] as AnyNode) : undefined
  const text = textOf(name)
  // Whatever `svc` is called there.
  const isImport = property?.['name'] === 'import' || property?.['value'] === 'import'
  if (isImport && text !== undefined) findings.module(text, textOf(tag))
}

function either(name: string | undefined, findings: Findings): void {
  if (name === undefined) return
  findings.module(name)
  const found = packageOf(name)
  if (found !== undefined) findings.package(found)
}

/** `@scope/name/deep` → `@scope/name`; undefined for files, URLs and what Node has itself. */
function packageOf(specifier: string): string | undefined {
  if (isBuiltin(specifier) || /^[./#]|^[a-z][a-z+.-]*:/i.test(specifier)) return undefined
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}

/** A string, also in backquotes without expressions. */
function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  if (node.type === 'Literal' && typeof node['value'] === 'string') return node['value']
  if (node.type !== 'TemplateLiteral') return undefined
  const [only, ...more] = node['quasis'] as { value: { cooked?: string | null } }[]
  return more.length === 0 ? (only?.value.cooked ?? undefined) : undefined
}
