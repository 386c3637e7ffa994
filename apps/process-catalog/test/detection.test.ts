import { describe, expect, test } from 'vitest'
import { detectDependencies } from '../src/dependencies/detect.ts'
import { readSource } from '../src/reading/read-source.ts'

const options = {
  allowGit: true,
  without: new Set(['svc', 'databricks']),
  pythonImports: new Map([
    ['Crypto', 'pycryptodome'],
    ['cv2', 'opencv-python'],
  ]),
}
const javascript = (source: string) => detectDependencies('JAVASCRIPT', readSource('JAVASCRIPT', source), options)
const python = (source: string) => detectDependencies('PYTHON', readSource('PYTHON', source), options)

describe('in JavaScript', () => {
  test.each([
    [`import a from 'aa'; import * as b from "bb"; import { c } from 'cc'; import 'dd'`, ['aa', 'bb', 'cc', 'dd']],
    [`export { x } from 'aa'; export * from 'bb'`, ['aa', 'bb']],
    [`const a = require('aa'); const b = await import('bb'); import('cc', { with: {} })`, ['aa', 'bb', 'cc']],
    [`require('@scope/name/deep/file'); require('lodash/get'); require(\`tick\`)`, ['@scope/name', 'lodash', 'tick']],
    [
      `import fs from 'fs'; import 'node:path'; import './x'; import '../y'; require('/z'); import '#in'; import 'https://h/x'`,
      [],
    ],
    [`import svc from 'svc'; svc.import('module-a'); x.require('aa')`, []],
    [
      `// import 'aa'\n/* require('bb') */ const s = "import 'cc'"; const t = \`require('dd')\`; const r = /require('ee')/`,
      [],
    ],
    ["const t = `${require('inside')} and ${`${require('deeper')}`}`", ['inside', 'deeper']],
    [`const a = b / c; require('aa'); const d = e / f`, ['aa']],
    [`const name = 'x'; require(name); require('a' + 'b'); import('a' + b)`, []],
    [`#!/usr/bin/env node\nrequire('aa')`, ['aa']],
    [`import '__proto__'; import '../../etc'; import '-g'; import 'a b'`, []],
  ])('%s', (source, names) => {
    expect(Object.keys(javascript(source)).sort()).toEqual([...names].sort())
  })

  test('comments say which version, and win over imports', () => {
    const source =
      "// @add-package zod@^4.1.0\n// @add-package @a/b@1.2.3\n/* @add-package ky=1.0.0 */\nimport 'zod'\n// @add-package plain"
    expect(javascript(source)).toEqual({ zod: '^4.1.0', '@a/b': '1.2.3', ky: '1.0.0', plain: '*' })
  })

  test('a comment that says what no manifest takes is left out', () => {
    expect(javascript('// @add-package a@file:../b\n// @add-package --global\n// see @add-package b@1')).toEqual({})
  })
})

describe('in Python', () => {
  test.each([
    ['import requests\nimport numpy as np, pandas.io as p', ['requests', 'numpy', 'pandas']],
    ['from flask import Flask\nfrom a.b.c import (d,\n  e)', ['flask', 'a']],
    ['try:\n    import ujson\nexcept ImportError: import simplejson', ['ujson', 'simplejson']],
    ['import os, sys, json\nfrom collections import abc\nfrom __future__ import annotations', []],
    ['from . import x\nfrom .y import z', []],
    ['# import aa\nx = "import bb"\n"""\nimport cc\n"""\ny = \'\'\'\nfrom dd import e\n\'\'\'', []],
    [
      'import yaml, cv2, bs4\nfrom PIL import Image\nfrom sklearn import svm',
      ['PyYAML', 'opencv-python', 'beautifulsoup4', 'pillow', 'scikit-learn'],
    ],
    ['from Crypto.Cipher import AES\nimport fitz', ['pycryptodome', 'PyMuPDF']],
    [
      'import grpc, dns.resolver, websocket, psycopg, imblearn, umap',
      ['grpcio', 'dnspython', 'websocket-client', 'psycopg[binary]', 'imbalanced-learn', 'umap-learn'],
    ],
    [
      'import pkg_resources, bson, ruamel.yaml\nfrom googleapiclient.discovery import build\nfrom odf import text',
      ['setuptools', 'pymongo', 'ruamel.yaml', 'google-api-python-client', 'odfpy'],
    ],
    [
      'import google.protobuf\nfrom google.cloud import storage, pubsub_v1\nfrom google.cloud.bigquery_storage_v1 import (\n  types)',
      ['protobuf', 'google-cloud-storage', 'google-cloud-pubsub', 'google-cloud-bigquery-storage'],
    ],
    [
      'from azure.storage.blob import BlobClient\nimport azure.identity.aio\nfrom opentelemetry import trace',
      ['azure-storage-blob', 'azure-identity', 'opentelemetry-api'],
    ],
    // A module of the team.
    ['import databricks.sdk\nfrom databricks import sql', []],
    ['import google, azure.nothing\nfrom google.cloud import nothing', []],
    ['import svc\nsvc.import_module("x")', []],
    ['import a; import b \\\n  as c', ['a', 'b']],
  ])('%s', (source, names) => {
    expect(Object.keys(python(source)).sort()).toEqual([...names].sort())
  })

  test('an import that the latest versions of a package have no more takes an earlier one', () => {
    expect(python('import pkg_resources')).toEqual({ setuptools: '<82' })
  })

  test('comments say which version, and win over imports by whatever name PyPI takes for the same', () => {
    const source =
      '# @add-package requests==2.31.0\n# @add-package pyyaml=6.0\n# @add-package flask>=2\nimport requests, yaml, flask'
    expect(python(source)).toEqual({ requests: '==2.31.0', pyyaml: '6.0', flask: '>=2' })
  })
})
