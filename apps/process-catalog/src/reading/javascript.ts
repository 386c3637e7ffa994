import { isBuiltin } from 'node:module'
import { Script } from 'node:vm'
import { Parser, type Node } from 'acorn'
import type { Findings } from './findings.ts'
import type { SourceFault } from './reading.ts'

type AnyNode = Node & Record<string, unknown>

declare module 'acorn' {
  interface Parser {
    /** Is given each node when its end is reached, and gives it back. */
    finishNode(node: Node, type: string): Node
  }
}

/** What acorn says of `import` in what it reads as a script. */
const isOfModules = /sourceType: module/

/**
 * Finds `import`, `export … from`, `import()` and `require()`, which may mean a module or a package, and `svc.import()`,
 * which means a module. Without a program, only comments are found, and its fault is given.
 */
export function readJavascript(source: string, findings: Findings): SourceFault | undefined {
  const ofScript = faultAs('script', source, findings)
  if (ofScript === undefined) return undefined
  const ofModule = faultAs('module', source, findings)
  if (ofModule === undefined) return undefined
  if (isOfModules.test(ofScript.message)) return ofModule
  // What runs programs may know more of the language than what reads them.
  return isCompiled(source) ? undefined : ofScript
}

function isCompiled(source: string): boolean {
  try {
    return new Script(`(async function () {${source}\n})`) instanceof Script
  } catch {
    return false
  }
}

/** Reads a source as a script or as a module. */
function faultAs(sourceType: 'script' | 'module', source: string, findings: Findings): SourceFault | undefined {
  // Looked at as they are parsed, as the whole tree of a large source would need far more memory than the thread has.
  class Reader extends Parser {
    override finishNode(node: Node, type: string): Node {
      const done = super.finishNode(node, type) as AnyNode
      readNode(done, findings)
      leaveOutParts(done)
      return done
    }
  }
  try {
    Reader.parse(source.replace(/^\uFEFF/, ''), {
      ecmaVersion: 'latest',
      sourceType,
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
      allowHashBang: true,
      onComment: (_, text) => findings.comment(text),
    })
    return undefined
  } catch (error) {
    // Of what is nested too deeply acorn says this; it may well be a program.
    if (!(error instanceof SyntaxError) || error.message.startsWith('Not enough stack space')) throw error
    findings.dropImports()
    const { message, loc } = error as SyntaxError & { loc: { line: number; column: number } }
    return { message: message.replace(/ \(\d+:\d+\)$/, ''), line: loc.line, column: loc.column + 1 }
  }
}

/** Frees what the parser looks at no more once the node has ended. */
function leaveOutParts(node: AnyNode): void {
  if (node.type === 'BlockStatement' || node.type === 'ClassBody') node['body'] = []
  if (node.type === 'ExpressionStatement') node['expression'] = withoutParts(node['expression'])
  if (node.type === 'VariableDeclarator') node['init'] = withoutParts(node['init'])
}

function withoutParts(node: unknown): unknown {
  return isNode(node) && node.type !== 'Literal' ? { type: node.type, start: node.start, end: node.end } : node
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
  if (!isImport || text === undefined) return
  findings.module(text, textOf(tag))
  findings.written(text, textOf(tag) ?? '')
}

function either(name: string | undefined, findings: Findings): void {
  if (name === undefined) return
  findings.module(name)
  const found = packageOf(name)
  if (found !== undefined) findings.package(found)
  findings.written(name)
}

/** `@scope/name/deep` → `@scope/name`; undefined for files, URLs and what Node has itself. */
export function packageOf(specifier: string): string | undefined {
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
