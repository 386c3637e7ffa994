/**
 * Ends this process with SIGKILL when execution passes the named point for the nth time and the environment asks for
 * it: `FAIL_POINT=after-create:3`. Off unless that variable is set; only tests set it.
 */
export function failPoint(name: string): void {
  if (armed === undefined || armed.name !== name) return
  armed.passes -= 1
  if (armed.passes <= 0) process.kill(process.pid, 'SIGKILL')
}

const armed = parse(process.env['FAIL_POINT'])

function parse(text: string | undefined): { name: string; passes: number } | undefined {
  if (!text) return undefined
  const [name = '', passes = '1'] = text.split(':')
  return { name, passes: Number(passes) }
}
