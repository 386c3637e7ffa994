import type { Failure, FieldFault } from './failure.ts'

// Of faults in a text for people.
const MOST_SHOWN = 20

/** The text of a failure, with all faults of fields and where they are: many clients show nothing else. */
export function textOf({ message, fields }: Failure): string {
  const texts = fields.slice(0, MOST_SHOWN).map(wordsOf)
  if (fields.length > MOST_SHOWN) texts.push(`and ${fields.length - MOST_SHOWN} more`)
  if (fields.some((fault) => fault.message === message)) return texts.join('; ')
  return [message, ...texts.filter((words) => !message.includes(words))].join('; ')
}

/** The pointer of a fault and what it is. */
function wordsOf({ path, message }: FieldFault): string {
  if (path === '' || message.includes(path)) return message
  // "is required" goes on from the pointer; a sentence of its own stands behind it.
  return /^(?:is|are|must|can|has|have|may|does|names|holds)\b/.test(message)
    ? `${path} ${message}`
    : `${path}: ${message}`
}
