const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i

/** The id that stands in a text, such as an address. */
export const idIn = (text: string): string | undefined => UUID.exec(text)?.[0].toLowerCase()
