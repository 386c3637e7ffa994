/** The steps to a folder, each with the path up to it: `/a/b` gives `a` and `b`. */
export function stepsOf(path: string, separator = '/'): { name: string; path: string }[] {
  const isAbsolute = path.startsWith(separator)
  const names = path.split(separator).filter((name) => name !== '')
  return names.map((name, index) => ({
    name,
    path: (isAbsolute ? separator : '') + names.slice(0, index + 1).join(separator),
  }))
}

/** A path of something in a folder. */
export const within = (folder: string, name: string): string => (folder.endsWith('/') ? folder : `${folder}/`) + name

/** The last name of a path. */
export const lastName = (path: string): string => path.split('/').findLast((name) => name !== '') ?? '/'
