/**
 * The Content-Disposition of a download: the last part of the name, plain where every client reads that alike, else a
 * plain likeness of it and the name itself in UTF-8, which counts for clients that know it (RFC 6266).
 */
export function attachment(name: string): string {
  const file = name.slice(name.lastIndexOf('/') + 1)
  // Some clients decode a percent sign, or take a backslash for an escape or for the end of a path.
  const plain = file.replace(/[^\x20-\x7e]|["\\%]/gu, '_')
  if (plain === file) return `attachment; filename="${plain}"`
  const encoded = encodeURIComponent(file).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
