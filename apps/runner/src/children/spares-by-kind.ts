import type { ChildLanguage } from './programs.ts'
import { Spares } from './spares.ts'
import type { Program } from './task.ts'

/** The blank children of each kind: of a language and, where they find packages, of those. */
export class SparesByKind {
  readonly byKind: Map<string, Spares>

  /** So many are kept at hand of each of these languages. */
  constructor(languages: ChildLanguage[], configured: number) {
    this.byKind = new Map(languages.map((language) => [language, new Spares(language, configured)]))
  }

  /** Those that may run a program. */
  for({ language, packages }: Program): Spares {
    const kind = packages === undefined ? language : `${language} ${packages.key}`
    const found = this.byKind.get(kind) ?? new Spares(language, 0, packages)
    this.byKind.set(kind, found)
    return found
  }

  /** Forgets packages that no child was started for, and nobody waits for. */
  tidy(used: Spares[]): void {
    for (const [kind, each] of this.byKind)
      if (each.packages !== undefined && each.wants.count === 0 && !used.includes(each)) this.byKind.delete(kind)
  }
}
