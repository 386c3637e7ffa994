'use strict'

/* What is said of a module that can't be found: which names come near, and how a package is added. */

const { builtinModules } = require('node:module')
const { readdirSync } = require('node:fs')

/** What is known of imports of the program that lead to no module of the team. */
let unmet = []
/** Why packages that were asked for are not there; undefined where none are missing. */
let fault
function know(imports = [], packagesFault) {
  unmet = imports
  fault = packagesFault
}

const MAX_NAMES = 3
const MAX_LENGTH = 100
const HOW_TO_ADD =
  "to add a package, name it in the team's dependencies or in the process's manifest, or save the process with settings.dependencies.autoDetect"
const NOT_INSTALLED = 'packages that were asked for could not be installed'
const NOT_BUILT =
  "scripts of packages don't run when they are installed, so what such a script builds, fetches or generates is not there; use a package or a version that brings it ready"
const LITERAL = 'a module of the team is found where an import has its name as a literal'
const NO_FILES = 'a source has no files beside it: team modules and packages are imported by their names'

/** By directory: they never change. */
const installedIn = new Map()

/** Names of the packages that lie in a directory of packages; none where there is none. */
function installed(directory) {
  if (directory === undefined) return []
  if (!installedIn.has(directory)) installedIn.set(directory, packagesIn(`${directory}/node_modules`))
  return installedIn.get(directory)
}

function packagesIn(directory) {
  try {
    const names = readdirSync(directory).filter((name) => !name.startsWith('.'))
    const scoped = (scope) => readdirSync(`${directory}/${scope}`).map((name) => `${scope}/${name}`)
    return names.flatMap((name) => (name.startsWith('@') ? scoped(name) : [name]))
  } catch {
    // Only a help is lost.
    return []
  }
}

/** Versions that there are of a module whose version is not there, the end of a sentence; undefined where none are known. */
function versionsOf(name, tag) {
  const { versions = [], hasNoVersions } = unmet.find((each) => each.name === name && each.tag === tag) ?? {}
  if (hasNoVersions) return `${name} has no versions`
  return versions.length === 0 ? undefined : `there are ${versions.map((each) => `'${each}'`).join(', ')}`
}

/** The names of the team's modules that a source imports. */
const namesOf = (imports) => Array.from(imports.keys(), (reference) => reference.split(' ')[0])

/**
 * The end of the sentence on a name that leads nowhere; `known` are names that lead somewhere beside Node's own, `isLiteral`
 * tells whether the source imports this one by a literal.
 */
function hint(name, known, isLiteral) {
  const prefix = name.startsWith('node:') ? 'node:' : ''
  const builtins = builtinModules.filter((each) => !each.startsWith('_')).map((each) => prefix + each)
  const ofTeam = unmet.filter((each) => each.name === name).flatMap(({ near }) => near)
  const near = nearest(name, [...new Set([...ofTeam, ...known, ...builtins])])
  const meant = near.length === 0 ? '' : `; did you mean ${near.map((each) => `'${each}'`).join(' or ')}?`
  if (/^(?:\.{0,2}\/|file:)/.test(name)) return continued(meant, NO_FILES)
  if (prefix !== '') return meant
  const how = fault === undefined ? HOW_TO_ADD : `${NOT_INSTALLED}: ${fault}`
  return continued(meant, isLiteral ? how : `${how}; ${LITERAL}`)
}

/** The end of the first line of an error by which an installed package can't be loaded; empty where that says enough. */
function hintWithin({ code, message }) {
  if (/^(?:Could not locate the bindings file|No native build was found)/.test(message)) return `; ${NOT_BUILT}`
  if (!/^(?:ERR_)?MODULE_NOT_FOUND$/.test(code)) return ''
  const [, name = ''] = /^Cannot find (?:module|package) '([^']+)'/.exec(message) ?? []
  return `; ${/^[./]|\.node$/.test(name) ? NOT_BUILT : HOW_TO_ADD}`
}

const continued = (meant, text) => (meant === '' ? `; ${text}` : `${meant} ${text[0].toUpperCase()}${text.slice(1)}`)

function nearest(name, names) {
  const wanted = plain(name.replace(/^(?:\.{0,2}\/)+/, '').replace(/\.[cm]?js$/, ''))
  if (wanted.length > MAX_LENGTH) return []
  const most = wanted.length < 5 ? 1 : 2
  return names
    .filter((each) => each !== name && Math.abs(plain(each).length - wanted.length) <= most)
    .map((each) => ({ each, far: distance(wanted, plain(each)) }))
    .filter(({ far }) => far <= most)
    .sort((a, b) => a.far - b.far)
    .slice(0, MAX_NAMES)
    .map(({ each }) => each)
}

const plain = (name) => name.toLowerCase().replaceAll(/[-_.]/g, '')

/** How many letters are to be added, left out, changed, or swapped with the next. */
function distance(a, b) {
  let before = []
  let last = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const changed = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      next[j] = Math.min(changed, last[j] + 1, next[j - 1] + 1)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        next[j] = Math.min(next[j], before[j - 2] + 1)
    }
    before = last
    last = next
  }
  return last[b.length]
}

module.exports = { hint, hintWithin, installed, know, namesOf, versionsOf }
