/** What a tool answers in place of a result; its text is for the assistant. */
export class ToolFault extends Error {
  /** That of the problem of the REST interface; empty where there is none. */
  readonly code: string

  constructor(text: string, code = '') {
    super(text)
    this.name = 'ToolFault'
    this.code = code
  }
}

/** The words of a problem of the REST interface. */
export function refusalText({ detail, code }: Record<string, unknown>): string {
  return `${String(detail)} (${String(code)})`
}
