import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startRunner, type RunnerUnderTest } from './runner-under-test.ts'

let under: RunnerUnderTest
beforeAll(async () => {
  under = await startRunner({ CODE_GLOBAL_ALIAS: 'other' })
})
afterAll(() => under.stop())

const forms: [guarantee: string, source: string, value: unknown][] = [
  ['a top-level return gives the value', 'return 1 + 1', 2],
  ['a source without a value gives null', 'const a = 1', null],
  ['an empty source gives null', '', null],
  ['await works at the top level', 'return await Promise.resolve(7)', 7],
  ['module.exports.main is called', 'module.exports = { main: () => "m" }', 'm'],
  ['exports.main may be async', 'exports.main = async () => { await null; return "m" }', 'm'],
  ['main is called without arguments', 'module.exports = { main(...all) { return all.length } }', 0],
  ['main is a method of what is exported', 'module.exports = { a: 3, main() { return this.a } }', 3],
  ['main is not called when the top level has returned', 'module.exports = { main: () => 2 }; return 1', 1],
  ['nor when it returned nothing', 'module.exports = { main: () => 2 }; return', null],
  ['an exported function is main', 'module.exports = async () => "f"', 'f'],
  ['an export named main is called', 'export async function main() { return 1 }', 1],
  ['an exported constant named main is called', 'export const main = () => 2', 2],
  [
    'a module with a very long array is no matter',
    `export const main = () => all.length\nconst all = [${'1,'.repeat(200_000)}]`,
    200_000,
  ],
  ['a renamed export is called', 'const work = () => 3\nexport { work as main }', 3],
  ['a default export is called', 'export default async function () { return 4 }', 4],
  [
    'a default export with a name is called',
    'export default function main() { return helper() }\nfunction helper() { return 5 }',
    5,
  ],
  ['a default arrow function is called', 'export default () => 6\n;[1].map(String)', 6],
  ['a default object with main is called', 'export default { main: () => 7 }', 7],
  [
    'module.exports.main is called beside an import',
    'import svc from "svc"\nmodule.exports = { main: () => "m" }',
    'm',
  ],
  ['exports.main beside an import', 'import svc from "svc"\nexports.main = () => svc.team.slug', 'demo'],
  ['an exported function beside an import', 'import svc from "svc"\nmodule.exports = () => "f"', 'f'],
  ['an export goes before module.exports', 'module.exports = { main: () => 1 }\nexport const main = () => 2', 2],
  ['a module may return at its top level', 'import fs from "fs"\nreturn typeof fs.statSync', 'function'],
  ['svc is a global', 'return svc.team.slug', 'demo'],
  ['svc has its second name', 'return other === svc', true],
  ['the default import of svc', 'import svc from "svc"\nreturn svc.team.slug', 'demo'],
  [
    'named imports of svc',
    'import { context, team as t } from "svc"\nreturn [context.parameters, t.slug]',
    [{}, 'demo'],
  ],
  ['all of svc', 'import * as s from "svc"\nreturn s.team.slug', 'demo'],
  ['require of svc', 'const { team } = require("svc")\nreturn team.slug', 'demo'],
  ['the package has its second name', 'import o from "other"\nreturn o === svc && require("other") === svc', true],
  ['a constant may be called svc', 'const svc = require("svc")\nreturn svc.team.slug', 'demo'],
  ['imports are hoisted', 'const a = join("a", "b")\nimport { join } from "node:path"\nreturn a', 'a/b'],
  ['imports with other names', 'import def, { sep as s } from "path"\nreturn def.sep === s', true],
  ['dynamic import of built-ins', 'return (await import("node:path")).basename("/a/b")', 'b'],
  ['dynamic import of svc', 'return (await import("svc")).default === svc', true],
  ['dynamic import in made code', 'return (await eval("import(\'node:path\')")).sep', '/'],
  ['require of built-ins', 'return [require("path").sep, require("node:os").EOL]', ['/', '\n']],
  ['getBuiltinModule', 'return process.getBuiltinModule("fs") === require("fs")', true],
  ['require.main is the module', 'return require.main === module', true],
  ['a module is strict', 'import "fs"\nreturn (function () { return this === undefined })()', true],
  ['a script is not', 'return (function () { return this === globalThis })()', true],
  ['this is what is exported', 'return this === module.exports', true],
  ['the words import and export in a text', '// import a from "b"\nconst s = "export const a"\nreturn s.length', 14],
  [
    'import.meta',
    'export const main = () => import.meta.url.startsWith("file:///") && import.meta.dirname === process.cwd()',
    true,
  ],
  ['a hashbang line', '#!/usr/bin/env node\nreturn 1', 1],
  ['a byte order mark', '\uFEFFreturn 1', 1],
  ['a last line that is a comment', 'return 1 // one', 1],
  ['a return in a loop', 'for (const x of [1, 2, 3]) { if (x === 2) return x }', 2],
  ['returns of functions within', 'const f = () => { return 2 }; return f()', 2],
  ['the word return in a template', 'return `return ${1}`', 'return 1'],
  ['await in a loop', 'let n = 0; for await (const x of [Promise.resolve(1), 2]) n += x; return n', 3],
  ['names in any script', 'const größe = "ü🙂"; return größe', 'ü🙂'],
  ['main is called once', 'let n = 0; module.exports = { main: () => (n += 1) }', 1],
  ['Windows line ends', 'const a = 1\r\nreturn a\r\n', 1],
  [
    're-exports',
    'export { join } from "path"\nexport * from "os"\nexport * as fs from "fs"\nexport const main = () => 8',
    8,
  ],
  ['destructured exports', 'export const { main, other: [x] } = { main: () => 9, other: [1] }', 9],
]

describe('the forms that a source may have', () => {
  test.for(forms)('%s', async ([, source, value]) => {
    const ended = await under.replica.run(source)
    expect(ended.explanation).toBeUndefined()
    expect(ended.value).toEqual(value)
  })
})

const faults: [guarantee: string, source: string, explanation: string, location: string][] = [
  ['a syntax error', 'const a = 1\nconst b = = 2', "SyntaxError: Unexpected token '='", 'demo.js:2'],
  ['a syntax error in a module', 'import "fs"\n\nconst b = = 2', 'SyntaxError: Unexpected token', 'demo.js:3'],
  ['an end that comes too early', 'const a = 1\nif (a) {\n', 'SyntaxError: Unexpected end of input', 'demo.js:3'],
  ['a source that closes what surrounds it', '}; return 1; {', 'SyntaxError: Unexpected token', 'demo.js'],
  ['and one that does it well', '} }); (function () { return async () => {', 'SyntaxError', 'demo.js'],
  ['a module that is not there', 'require("left-pad")', "Error: Cannot find module 'left-pad'", 'demo.js:1:1'],
  [
    'a package that is not there',
    '\nimport pad from "left-pad"',
    "Error: Cannot find package 'left-pad'",
    '    at demo.js:2:1',
  ],
  ['a package far below', 'const y = 1\n\n  import x from "pad"', "Cannot find package 'pad'", '    at demo.js:3:3'],
  [
    'a re-export of what is not there',
    '\nexport { a as main } from "pad"',
    "Cannot find package 'pad'",
    '    at demo.js:2:1',
  ],
  ['a brace too many', 'return 1\n}', "SyntaxError: Unexpected token '}'", '    at demo.js:2:1'],
  ['a brace too many, and another', 'return 1\n}\n{', "SyntaxError: Unexpected token '}'", '    at demo.js:2:1'],
  ['a brace too many in a module', 'import "fs"\n}', "SyntaxError: Unexpected token '}'", '    at demo.js:2:1'],
  ['a module that ends too early', 'import "fs"\nif (1) {\n', 'SyntaxError: Unexpected end of input', 'demo.js:3'],
  [
    'a throw in a default export',
    'export default () => {\n  throw new Error("d")\n}',
    'Error: d',
    '    at default (demo.js:2:9)',
  ],
  [
    'a throw in a listener',
    'import { EventEmitter } from "events"\nnew EventEmitter().on("e", () => { throw new Error("l") }).emit("e")',
    'Error: l',
    'demo.js:2:42',
  ],
  [
    'an export that is not there',
    'import { nope } from "fs"',
    "SyntaxError: The requested module 'fs' does not provide an export named 'nope'",
    "export named 'nope'\n    at demo.js:1:1",
  ],
  ['a throw in a script', '\n\n  null.a', "TypeError: Cannot read properties of null (reading 'a')", 'demo.js:3:8'],
  ['a throw on the first line', 'throw new RangeError("r")', 'RangeError: r', 'demo.js:1:7'],
  [
    'a throw in a module',
    'import fs from "fs"\nexport function main() {\n  fs.nope()\n}',
    'TypeError: fs.nope is not a function',
    'demo.js:3:6',
  ],
  [
    'a throw on the line of an import',
    'import fs from "fs"; fs.nope()',
    'TypeError: fs.nope is not a function',
    'demo.js:1:25',
  ],
  [
    'a throw after await',
    'await null\nawait work()\nasync function work() {\n  await null\n  throw new Error("late")\n}',
    'Error: late',
    'demo.js:5:9',
  ],
  [
    'a throw in an exported line',
    'export const a = 1, b = a.b.c',
    "TypeError: Cannot read properties of undefined (reading 'c')",
    'demo.js:1:29',
  ],
]

describe('faults keep the lines and columns that the user wrote', () => {
  test.for(faults)('%s', async ([, source, explanation, location]) => {
    const ended = await under.replica.run(source)
    expect(ended.explanation).toContain(explanation)
    const [entry] = ended.log
    expect(entry?.message).toContain(location)
    expect(entry?.message).not.toMatch(/children\/javascript|node:|\$svc\$|:-\d/)
  })
})
