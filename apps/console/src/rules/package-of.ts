/** The package that an import comes from: `lodash/fp` is of `lodash`, `@scope/name/file` of `@scope/name`. */
export function packageOf(name: string, language: 'JAVASCRIPT' | 'PYTHON'): string {
  if (language === 'PYTHON') return name.split('.', 1)[0] ?? name
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')
}
