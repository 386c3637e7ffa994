import type { LanguageName } from '../fields/language.ts'

const longest = 255

// npm's grammar of ranges; numbers as long as an installer can count.
const number = '(?:0|[1-9]\\d{0,15})'
const part = `(?:${number}|[xX*])`
const identifiers = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*'
const partial = `[v=]?${part}(?:\\.${part}(?:\\.${part}(?:-${identifiers})?(?:\\+${identifiers})?)?)?`
const operator = '(?:>=|<=|>|<|=|~>|~|\\^)'
const npmVersion = new RegExp(`^${partial}$`)
const npmOperator = new RegExp(`^${operator}$`)
const npmComparator = new RegExp(`^${operator}?${partial}$`)

// PEP 440.
const release = '(?:\\d{1,9}!)?\\d{1,16}(?:\\.\\d{1,16}){0,20}'
const suffix =
  '(?:[-_.]?(?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?\\d{0,9})?(?:[-_.]?(?:post|rev|r)[-_.]?\\d{0,9}|-\\d{1,9})?(?:[-_.]?dev[-_.]?\\d{0,9})?'
const local = '(?:\\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?'
const version = `v?${release}${suffix}${local}`
const pypiVersion = new RegExp(`^${version}$`, 'i')
const arbitrary = '[a-z0-9][a-z0-9._+!-]*'
const pypiClause = new RegExp(
  `^(?:(?:==|!=) {0,4}(?:v?${release}\\.\\*|${version})|(?:<=|>=|<|>|~=) {0,4}${version}|=== {0,4}${arbitrary})$`,
  'i',
)

// No account, port, query or step upwards; never an option; a host with a name that is not of this machine or cluster.
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const host = `(?:${label}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?`
const segment = '[A-Za-z0-9_~][A-Za-z0-9._~-]*'
const reference = '[A-Za-z0-9_][A-Za-z0-9._/+-]*'
const repository = `https:\\/\\/${host}(?:\\/${segment}){1,10}`
const npmGit = new RegExp(`^(?:git\\+${repository}\\/?|${repository}\\.git)(?:#(?:semver:[\\^~]?)?${reference})?$`, 'i')
const pypiGit = new RegExp(`^(?:git\\+${repository}|${repository}\\.git)(?:@${reference})?$`, 'i')
const ownHost = /^(?:git\+)?https:\/\/(?:[^/]*\.)?(?:localhost|local|internal|localdomain|svc)(?:\/|$)/i

/**
 * A specifier as every installer takes it, without what npm and `packaging` skip: blanks around it, a comma behind the last
 * clause. One that is empty is `*`.
 */
export function bareSpecifier(language: LanguageName, specifier: string): string {
  if (specifier.length > longest) return specifier
  const bare = specifier.trim()
  const isClauses = language === 'PYTHON' && /^[<>=!~]/.test(bare) && bare.endsWith(',')
  return isClauses ? bare.slice(0, -1).trimEnd() : bare || '*'
}

/** Why a bare text says no version of a package, in words; undefined where it may. Anything that suits is `*`. */
export function specifierFault(language: LanguageName, specifier: string, allowGit: boolean): string | undefined {
  if (specifier.length > longest) return `must have at most ${longest} characters`
  if (specifier === '*' || specifier === 'latest') return undefined
  const isPython = language === 'PYTHON'
  if (isPython ? isPep440(specifier) : isNpmRange(specifier)) return undefined
  const git = isPython ? pypiGit : npmGit
  if (git.test(specifier) && !specifier.includes('..') && !ownHost.test(specifier))
    return allowGit ? undefined : 'must not be a git URL: this system does not allow them'
  return `must be ${isPython ? 'a version specifier as of PEP 440' : 'a semver range'} or an https git URL`
}

// One expression for all of it would find its parts in more ways than it could try in a lifetime.
function isNpmRange(text: string): boolean {
  return text.split(/ *\|\| */).every((range) => {
    const words = range.split(/ +/)
    const [first = '', dash, last = ''] = words
    if (words.length === 3 && dash === '-') return npmVersion.test(first) && npmVersion.test(last)
    return words.every((word, at) =>
      npmOperator.test(word) ? npmVersion.test(words[at + 1] ?? '') : npmComparator.test(word),
    )
  })
}

function isPep440(text: string): boolean {
  return pypiVersion.test(text) || text.split(/ *, */).every((clause) => pypiClause.test(clause))
}
