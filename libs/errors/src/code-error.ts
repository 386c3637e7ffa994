const longestName = 100
const nameForm = /^[\p{ID_Start}_$][\p{ID_Continue}.$]*$/u

/**
 * The name and the message of what code has failed with: `TypeError: x is not a function`, or a name alone where it had no
 * message. What the service says of a run has no name: that is an `Error`.
 */
export function namedError(explanation: string): { name: string; message: string } {
  const end = explanation.indexOf(': ')
  const [name, message] = end < 0 ? [explanation, ''] : [explanation.slice(0, end), explanation.slice(end + 2)]
  return name.length <= longestName && nameForm.test(name) ? { name, message } : { name: 'Error', message: explanation }
}
