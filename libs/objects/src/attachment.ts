/** The Content-Disposition of a download: the last part of the name, in UTF-8 alone, which every client reads. */
export function attachment(name: string): string {
  const file = name.slice(name.lastIndexOf('/') + 1)
  const encoded = encodeURIComponent(file).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename*=UTF-8''${encoded}`
}
