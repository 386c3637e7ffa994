import { InvalidArgumentError } from 'commander'

const form = /^[A-Za-z0-9._-]{1,100}$/
const idForm = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** A tag of a version or a name of an alias, as the service takes them. */
export function readTag(text: string): string {
  if (!form.test(text))
    throw new InvalidArgumentError('It is 1 to 100 letters, digits, dots, underscores and hyphens, such as v12.')
  if (idForm.test(text)) throw new InvalidArgumentError('It must not have the form of an id; choose one such as v12.')
  return text
}
