import { describe, expect, test } from 'vitest'
import type { LanguageName } from '../src/fields/language.ts'
import { readSource } from '../src/reading/read-source.ts'

/** Imports that may mean a module, packages, and requests, each in words. */
function says(language: LanguageName, source: string): [string, string, string] {
  const { imports, packages, requests } = readSource(language, source)
  const words = (some: string[]) => some.toSorted().join(', ')
  return [words(imports), words(packages), words(requests.map((request) => request.join(' ')))]
}

describe('a JavaScript source says', () => {
  test.each<[string, string, string, string?, string?]>([
    ['nothing in a regular expression', "if (a) /require('no')/.test(b); require('yes')", 'yes', 'yes'],
    ['nothing in a class of one', "const a = /[/'\"]import 'no'/; require('yes')", 'yes', 'yes'],
    ['what follows a division', "const a = b\n/c/ require('yes')", 'yes', 'yes'],
    [
      'nothing in a template',
      "const a = `\n// @add-package no\nrequire('no') \\${require('no')}`; require(`yes`)",
      'yes',
      'yes',
    ],
    ['what a template takes in', "`a ${`b ${require('yes') /* @add-package c */}`} import('no')`", 'yes', 'yes', 'c *'],
    [
      'nothing in a text over lines',
      "const a = 'b\\\nrequire(\"no\") // @add-package no'; require('yes')",
      'yes',
      'yes',
    ],
    ['a name with escapes in it', String.raw`require('\x61b')`, 'ab', 'ab'],
    [
      'modules alone by svc.import',
      "svc.import('a'); tools['import']('b', 'v1'); svc.import(`c`, tag)",
      'a, b v1, c',
      '',
    ],
    ['no module by svc.import with a tag that is none', "svc.import('a', 'no tag')", '', ''],
    [
      'neither of files and addresses',
      "import './a'; import '../b'; import '/c'; import '#d'; import 'https://e/f'",
      '',
      '',
    ],
    ['neither of names that are put together', "require('a' + b); import(`a${b}`); require(c)", '', ''],
    ['neither of other functions', "require.resolve('a'); module.require('b'); imports('c'); a.imports('d')", '', ''],
    ['the package of a file in it', "require('a/b'); import '@c/d/e'", '', '@c/d, a'],
    ['a builtin that a module could replace', "import 'fs'; import 'node:path'", 'fs', ''],
    ['what it asks for with a question mark', "require?.('a'); svc?.import('b')", 'a, b', 'a'],
    ['what it exports again', "export * as a from 'a'; export { b } from 'b'; export * from 'c'", 'a, b, c', 'a, b, c'],
    [
      'requests in comments of all forms',
      '#!/usr/bin/node\n//@add-package a\r\n/* @add-package b@1 */\n/**\n * @add-package c@^2\n * @add-package d\n */',
      '',
      '',
      'a *, b 1, c ^2, d *',
    ],
    [
      'no request beside other words',
      "// see @add-package a\n// @add-package b please\nconst c = '// @add-package d'",
      '',
      '',
    ],
    [
      'no request of what no manifest takes',
      '// @add-package a@file:../b\n// @add-package --c\n// @add-package d@>',
      '',
      '',
    ],
    [
      'requests alone, up to its fault, where it is no program',
      "// @add-package a\nimport 'b'\nconst = 1\n// @add-package c",
      '',
      '',
      'a *',
    ],
    ['nothing where a text has no end', "'a\nrequire('b')", '', ''],
    ['the same behind a byte order mark', "\uFEFF// @add-package a\nimport 'b'", 'b', 'b', 'a *'],
    ['the same as a script and as a module', "with (a) require('b')", 'b', 'b'],
  ])('%s', (_, source, imports, packages, requests = '') => {
    expect(says('JAVASCRIPT', source)).toEqual([imports, packages, requests])
  })
})

describe('a Python source says', () => {
  test.each<[string, string, string, string?, string?]>([
    ['each part of a dotted name, and its package once', 'import a.b as c, d\nimport a . e', 'a, a.b, a.e, d', 'a, d'],
    ['what it takes from a name', 'from a.b import c as d, e', 'a, a.b, a.b.c, a.b.e', 'a'],
    ['names in brackets, over lines', 'from a import (b, # why\n  c\n  as d,\n)\nimport e', 'a, a.b, a.c, e', 'a, e'],
    ['a name without what a star takes', 'from a import *', 'a', 'a'],
    ['nothing that is relative', 'from . import a\nfrom .b import c\nfrom ...d import e\nfrom .import f', '', ''],
    ['what follows on the same line', 'if a: import b; import c\nelse:import d', 'b, c, d', 'b, c, d'],
    ['what goes on behind a backslash', 'import a \\\r\n  as b, \\\n  c\rimport d', 'a, c, d', 'a, c, d'],
    ['what an odd line leaves readable', "a = 'b\nimport c", 'c', 'c'],
    ['nothing in a text', 'a = "import b"\n"import b"; \'import b\'\nimport c', 'c', 'c'],
    [
      'nothing in a text over lines',
      'a = "b\\\nimport c\\\r\nimport c"\n"""\nimport c # @add-package c\n\\"""\nimport c"""\nimport d',
      'd',
      'd',
    ],
    [
      'nothing in a text with a prefix',
      "rb'''\nimport a\n'''\nf'''{b}\nimport a\n'''; R'\\'; import c'\nimport d",
      'd',
      'd',
    ],
    ['nothing in a text without an end', "import a\n'''\nimport b", 'a', 'a'],
    [
      'modules alone by import_module, also as importModule',
      "svc.import_module('a'); import_module(\n  'b', # why\n  'v1',\n)\nc.importModule(u\"d\", tag='v2')",
      'a, b v1, d v2',
      '',
    ],
    [
      'no module by a text that is put together',
      "f = svc.import_module\nf('a')\nsvc.import_module(f'a')\nsvc.import_module('a' 'b')\nsvc.import_module('a', 'b' + c)",
      '',
      '',
    ],
    ['nothing by other words', 'important = 1\nreimport a\nimport_ = b.import_\nraise c from d', '', ''],
    [
      'modules, and no package, of the names of its library',
      'import os, json.decoder\nfrom __future__ import annotations',
      '__future__, __future__.annotations, json, json.decoder, os',
      '',
    ],
    [
      'requests in comments',
      '#!/usr/bin/python\n#@add-package a==1\nb = 1  # @add-package c>=2,<3 \r\n# * @add-package d\n# see @add-package e',
      '',
      '',
      'a ==1, c >=2,<3, d *',
    ],
    ['the same behind a byte order mark', '\uFEFFimport a', 'a', 'a'],
  ])('%s', (_, source, imports, packages, requests = '') => {
    expect(says('PYTHON', source)).toEqual([imports, packages, requests])
  })
})

test('of a name that is longer than any module or package has, nothing is kept', () => {
  const long = 'a'.repeat(300)
  expect(says('PYTHON', `import ${long}, b.${long}\n# @add-package ${long}${long}`)).toEqual(['b', 'b', ''])
  expect(says('JAVASCRIPT', `import '${long}' // @add-package ${long}${long}`)).toEqual(['', '', ''])
})

test('at most a thousand of each are kept', () => {
  const lines = Array.from({ length: 1500 }, (_, n) => `import 'a${n}' // @add-package b${n}`)
  const { imports, packages, requests } = readSource('JAVASCRIPT', lines.join('\n'))
  expect([imports.length, packages.length, requests.length]).toEqual([1000, 1000, 1000])
})
