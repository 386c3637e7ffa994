import { isUuid } from '../identifier.ts'
import { isModuleName } from '../module-rules.ts'
import { isTag } from '../tag.ts'
import type { Reading } from './reading.ts'

const maxEach = 1000
const longestPackage = 214

// Alone on its line. Longer than any name with any specifier is none.
const wish = /^[ \t*!]*@add-package[ \t]+(\S{1,500})[ \t\r]*$/gm

/** Collects what a source says while it is read. What can be neither is left out here. */
export class Findings {
  readonly #imports = new Set<string>()
  readonly #packages = new Set<string>()
  readonly #wishes = new Set<string>()

  /** A literal import of what may be a module; `tag` where it asks for a version. */
  module(name: string, tag = ''): void {
    if (!isModuleName(name) || (tag !== '' && !isTag(tag) && !isUuid(tag))) return
    add(this.#imports, tag === '' ? name : `${name} ${tag}`)
  }

  /** A name by which a package is imported. */
  package(name: string): void {
    if (name !== '' && name.length <= longestPackage) add(this.#packages, name)
  }

  /** A comment's text, of one line or several. */
  comment(text: string): void {
    if (!text.includes('@add-package')) return
    for (const [, wished] of text.matchAll(wish)) add(this.#wishes, wished!)
  }

  reading(): Reading {
    return { imports: [...this.#imports], packages: [...this.#packages], wishes: [...this.#wishes] }
  }
}

function add(found: Set<string>, text: string): void {
  if (found.size < maxEach) found.add(text)
}
