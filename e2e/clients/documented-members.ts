import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseAst } from 'rolldown/parseAst'

interface Named {
  name: string
}

interface TypeNode {
  type: string
  typeName?: Named
  types?: TypeNode[]
  members?: Member[]
}

interface Member {
  type: string
  key?: Named
  typeAnnotation?: { typeAnnotation: TypeNode }
}

interface Declared {
  type: string
  id: Named
  body: { body: Member[] }
}

/** The members of interfaces of a declaration file, as paths from each: `processes.run`. Those with free names end there. */
export function membersOfTypeScript(path: string, roots: readonly string[]): Map<string, string[]> {
  const { body } = parseAst(readFileSync(path, 'utf8'), { lang: 'dts' }) as unknown as {
    body: { type: string; id?: Named; body?: { body: Declared[] } }[]
  }
  const namespace = body.find(({ type, id }) => type === 'TSModuleDeclaration' && id?.name === 'Svc')
  const interfaces = new Map(
    namespace!
      .body!.body.filter(({ type }) => type === 'TSInterfaceDeclaration')
      .map(({ id, body: { body: members } }) => [id.name, members]),
  )

  function pathsOf(members: readonly Member[]): string[] {
    return members.flatMap(({ key, typeAnnotation }) => {
      const inner = membersOf(typeAnnotation?.typeAnnotation)
      return [key!.name, ...pathsOf(inner).map((below) => `${key!.name}.${below}`)]
    })
  }

  function membersOf(type: TypeNode | undefined): readonly Member[] {
    const members = type?.members ?? interfaces.get(type?.typeName?.name ?? '') ?? []
    return members.some((member) => member.type === 'TSIndexSignature') ? [] : members
  }

  return new Map(roots.map((root) => [root, pathsOf(interfaces.get(root)!).toSorted()]))
}

const readStub = `
import ast, json, sys
module = ast.parse(open(sys.argv[1]).read())
classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}

def members(body):
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            name, below = node.name, []
        elif isinstance(node, ast.Assign):
            name, below = node.targets[0].id, []
        elif isinstance(node, ast.AnnAssign):
            name, below = node.target.id, [each.id for each in ast.walk(node.annotation) if isinstance(each, ast.Name)]
        else:
            continue
        if name.startswith("_"):
            continue
        yield name
        for each in below:
            if each in classes and not each.startswith("_"):
                yield from (f"{name}.{inner}" for inner in members(classes[each].body))

roots = {"svc": module.body, **{name: node.body for name, node in classes.items()}}
print(json.dumps({name: sorted(members(roots[name])) for name in sys.argv[2:]}))
`

/** The members of a stub and of its classes; the stub itself is \`svc\`, of which classes for annotations alone are no part. */
export function membersOfPython(path: string, roots: readonly string[]): Map<string, string[]> {
  const text = execFileSync('python3', ['-c', readStub, path, ...roots], { encoding: 'utf8' })
  return new Map(Object.entries(JSON.parse(text) as Record<string, string[]>))
}
