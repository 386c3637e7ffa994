/** Finds the template that a path fits, the one with the fewest parameters first; names of objects may have slashes. */
export function matcherOf(templates: readonly string[]): (path: string) => string | undefined {
  const known = templates
    .map((template) => ({ template, parameters: template.split('{').length, pattern: patternOf(template) }))
    .toSorted((a, b) => a.parameters - b.parameters)
  return (path) => known.find(({ pattern }) => pattern.test(path))?.template
}

function patternOf(template: string): RegExp {
  const source = template
    .replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('{filename}', '.+')
    .replaceAll(/\{\w+\}/g, '[^/]+')
  return new RegExp(`^${source}$`)
}
