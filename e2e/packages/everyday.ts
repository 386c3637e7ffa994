import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Language } from '../client/records.ts'

/** A package that people use every day, and one call that shows that it works. */
export interface Everyday {
  name: string
  /** Imports, and statements where one expression is not enough. */
  code: string
  /** An expression; in JavaScript it may `await`. */
  value: string
  /** What the expression comes to, as JSON. */
  gives: unknown
}

interface Shelf {
  /** Modules of the team that code imports. */
  modules: Record<string, string>
  packages: Everyday[]
}

/** What is tried of a language's packages. */
export function everydayOf(language: Language): Shelf {
  const path = join(import.meta.dirname, 'everyday', `${language.toLowerCase()}.yaml`)
  const { modules, packages } = parse(readFileSync(path, 'utf8')) as {
    modules: Record<string, string>
    packages: Record<string, Record<string, Omit<Everyday, 'name'>>>
  }
  const entries = Object.values(packages).flatMap((group) => Object.entries(group))
  return { modules, packages: entries.map(([name, entry]) => ({ name, ...entry })) }
}

/** The source of a process that gives `{value, version}`: what the call comes to, and which version is there. */
export function sourceOf(language: Language, { name, code, value }: Everyday): string {
  const project = name.replace(/\[.*/, '')
  if (language === 'PYTHON')
    return `${code}\nfrom importlib.metadata import version\nreturn {"value": ${value}, "version": version("${project}")}`
  const manifest = `require('node:module').findPackageJSON('${project}', import.meta.resolve('${project}'))`
  return `${code}\nreturn { value: ${value}, version: JSON.parse(require('node:fs').readFileSync(${manifest})).version }`
}
