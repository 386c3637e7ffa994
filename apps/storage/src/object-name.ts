import { invalid } from '@automation/errors'

const maxBytes = 1024

const control = /\p{Cc}/u

/** A name as it may be kept. Failure invalid_input at `path`, by the rules of the contract. */
export function checkedName(name: string, path = '/filename'): string {
  const fault = faultOf(name)
  if (fault !== undefined) throw invalid(path, fault)
  return name
}

function faultOf(name: string): string | undefined {
  if (name === '') return 'is required'
  if (!name.isWellFormed()) return 'must be valid Unicode'
  if (Buffer.byteLength(name) > maxBytes) return `must have at most ${maxBytes} bytes`
  if (control.test(name)) return 'must hold no control characters'
  const segments = name.split('/')
  if (segments.includes('')) return 'must have no leading, doubled or trailing slash'
  if (segments.includes('.') || segments.includes('..')) return 'must have no segment . or ..'
  return undefined
}
