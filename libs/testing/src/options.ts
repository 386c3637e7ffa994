import { randomInt } from 'node:crypto'
import { parseArgs, type ParseArgsConfig } from 'node:util'

type Given = NonNullable<ParseArgsConfig['options']>

type Values<T extends Given> = ReturnType<typeof parseArgs<{ args: string[]; options: T }>>['values']

/** For an option `seed`: where none is given, a run has one of its own. */
export const randomSeed = `${randomInt(2 ** 31)}`

/** A whole number from `least` on; NaN where a text is none. */
export function wholeNumber(text: string, least = 0): number {
  const number = Number(text)
  return Number.isSafeInteger(number) && number >= least ? number : Number.NaN
}

/**
 * What `choose` makes of the options of the command line. Where they ask for help, this prints it and ends the process
 * with 0; where they are wrong, as `choose` says by undefined or a number that is none, with 2.
 */
export function readOptions<const T extends Given, Chosen extends object>(
  help: string,
  given: T,
  choose: (values: Values<T>) => Chosen | undefined,
): Chosen {
  const options = { ...given, help: { type: 'boolean' } } as const
  const { help: asked, ...values } = valuesOf(options, help) as Values<T> & { help?: boolean }
  const chosen = asked === true ? undefined : choose(values as Values<T>)
  if (chosen && !Object.values(chosen).some(Number.isNaN)) return chosen
  process.stdout.write(help)
  process.exit(asked === true ? 0 : 2)
}

function valuesOf(options: Given, help: string): object {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${help}`)
    process.exit(2)
  }
}
