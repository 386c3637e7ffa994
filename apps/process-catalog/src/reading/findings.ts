import { isUuid } from '@automation/contract/forms'
import type { LanguageName } from '../fields/language.ts'
import { isModuleName, isTag } from '../fields/names.ts'
import { packageRequestOf, type PackageRequest, type Reading, type SourceFault, type WrittenImport } from './reading.ts'

const maxEach = 1000
const longestPackage = 214
const longestWritten = 512

// Alone on its line. Longer than any name with any specifier is none.
const requestForm = /^[ \t*!]*@add-package[ \t]+(\S{1,500})[ \t\r]*$/gm

/** Collects what a source says while it is read. What can be neither is left out here. */
export class Findings {
  readonly #language: LanguageName
  readonly #imports = new Set<string>()
  readonly #packages = new Set<string>()
  readonly #written = new Map<string, WrittenImport>()
  readonly #requests = new Map<string, PackageRequest>()

  constructor(language: LanguageName) {
    this.#language = language
  }

  /** A literal import of what may be a module; `tag` where it asks for a version. */
  module(name: string, tag = ''): void {
    if (this.#imports.size >= maxEach || !isModuleName(name)) return
    if (tag === '') this.#imports.add(name)
    else if (isTag(tag) || isUuid(tag)) this.#imports.add(`${name} ${tag}`)
  }

  /** A name by which a package is imported. */
  package(name: string): void {
    if (this.#packages.size < maxEach && name !== '' && name.length <= longestPackage) this.#packages.add(name)
  }

  /** An import as it is written; `moduleTag` where it can only be one of a module, of this version or, if empty, of none. */
  written(name: string, moduleTag?: string): void {
    if (this.#written.size >= maxEach || name === '' || name.length > longestWritten) return
    const found = { name, ...(moduleTag !== undefined && { moduleTag }) }
    this.#written.set(JSON.stringify(found), found)
  }

  /** A comment's text, of one line or several. */
  comment(text: string): void {
    if (!text.includes('@add-package')) return
    for (const [, requested = ''] of text.matchAll(requestForm)) {
      if (this.#requests.size >= maxEach) return
      const found = this.#requests.has(requested) ? undefined : packageRequestOf(this.#language, requested)
      if (found !== undefined) this.#requests.set(requested, found)
    }
  }

  /** Keeps the requests alone. */
  dropImports(): void {
    this.#imports.clear()
    this.#packages.clear()
    this.#written.clear()
  }

  reading(fault?: SourceFault): Reading {
    return {
      ...(fault && { fault }),
      imports: [...this.#imports],
      packages: [...this.#packages],
      written: [...this.#written.values()],
      requests: [...this.#requests.values()],
    }
  }
}
