/** An event of a server-sent stream. */
export interface ServerEvent {
  id: string | undefined
  event: string
  data: string
}

/**
 * Reads server-sent events from pieces of text as they come, however they are cut. Comments, which keep the connection
 * alive, give nothing.
 */
export function eventReader(): (text: string) => ServerEvent[] {
  let rest = ''
  return (text) => {
    rest += text
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    return blocks.flatMap(eventOf)
  }
}

function eventOf(block: string): ServerEvent[] {
  let id: string | undefined
  let event = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (name === 'id') id = value
    else if (name === 'event') event = value
    else if (name === 'data') data.push(value)
  }
  return data.length === 0 ? [] : [{ id, event, data: data.join('\n') }]
}
