/** Whether a version of Node is older than what the program needs, 22.12. */
export function isTooOld(node: string): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  return major < 22 || (major === 22 && minor < 12)
}
