/**
 * Tokens of the directive `sandbox` by which a page gets nothing of the origin that it comes from, and does nothing to
 * the pages around it unasked. Without a place here: allow-same-origin, allow-storage-access-by-user-activation (the
 * origin's storage and cookies), allow-popups-to-escape-sandbox (a page of this host without a sandbox),
 * allow-top-navigation and allow-top-navigation-to-custom-protocols (take away the page around it, without a click).
 */
const GRANTED = new Set([
  'allow-downloads',
  'allow-forms',
  'allow-modals',
  'allow-orientation-lock',
  'allow-pointer-lock',
  'allow-popups',
  'allow-presentation',
  'allow-scripts',
  'allow-top-navigation-by-user-activation',
])

const NAME = /^[a-z0-9-]+$/i
const TOKENS = /^[\x21-\x2b\x2d-\x3a\x3c-\x7e ]*$/

/** What was left out of a policy. */
interface Leftovers {
  tokens: Set<string>
  directives: Set<string>
}

/**
 * The Content-Security-Policy of an answer on a host that many share: the policies that a process gave, each directive
 * that is valid, and always a sandbox, with the tokens that the process named and may have. With warnings of what is
 * left out.
 */
export function sandboxedPolicy(values: readonly string[]): { value: string; warnings: string[] } {
  const left: Leftovers = { tokens: new Set(), directives: new Set() }
  const policies = values
    .flatMap((value) => value.split(','))
    .map((policy) => keptDirectives(policy, left))
    .filter((directives) => directives.length > 0)
  // Browsers apply the sandbox of any policy of the list.
  if (!policies.flat().some(isSandbox)) policies[0] = ['sandbox', ...(policies[0] ?? [])]
  return { value: policies.map((directives) => directives.join('; ')).join(', '), warnings: warningsOf(left) }
}

function keptDirectives(policy: string, left: Leftovers): string[] {
  const kept: string[] = []
  let hasSandbox = false
  for (const text of policy.split(';')) {
    const [name = '', ...tokens] = text.split(/[\t\n\f\r ]+/).filter((token) => token !== '')
    if (name === '') continue
    const value = tokens.join(' ')
    if (!NAME.test(name) || !TOKENS.test(value)) left.directives.add(name)
    else if (name.toLowerCase() !== 'sandbox') kept.push(value === '' ? name : `${name} ${value}`)
    // Of several in one policy the first counts.
    else if (!hasSandbox) {
      hasSandbox = true
      kept.push(['sandbox', ...tokens.filter((token) => isGranted(token, left))].join(' '))
    }
  }
  return kept
}

function isSandbox(directive: string): boolean {
  return directive === 'sandbox' || directive.startsWith('sandbox ')
}

function isGranted(token: string, left: Leftovers): boolean {
  if (GRANTED.has(token.toLowerCase())) return true
  left.tokens.add(token)
  return false
}

function warningsOf({ tokens, directives }: Leftovers): string[] {
  const header = 'of the returned Content-Security-Policy'
  const warnings: string[] = []
  if (tokens.size > 0)
    warnings.push(`Dropped from the sandbox ${header}, which all webhooks share a host by: ${listed(tokens)}`)
  if (directives.size > 0) warnings.push(`Dropped as no valid directives ${header}: ${listed(directives)}`)
  return warnings
}

function listed(names: Set<string>): string {
  return [...names].join(', ').slice(0, 500)
}
