import { readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'

/**
 * What documents name that is not there: relative links, anchors, and paths of this repository in inline code. `tracked`
 * are the paths of all files from `root`. One line for each fault.
 */
export async function linkFaults(root: string, tracked: string[]): Promise<string[]> {
  const documents = tracked.filter((path) => path.endsWith('.md'))
  const texts = new Map(
    await Promise.all(
      documents.map(async (path) => [path, withoutBlocks(await readFile(join(root, path), 'utf8'))] as const),
    ),
  )
  const there = new Set(['.', ...tracked.flatMap((path) => [path, ...foldersOf(path)])])
  const ends = new Set(tracked.flatMap(endsOf))
  return [...texts].flatMap(([path, text]) => [
    ...linksIn(text)
      .filter((link) => !isThere(link, path, texts, there))
      .map((link) => `${path} links to ${link}, which is not there`),
    ...pathsIn(text)
      .filter((named) => !there.has(named))
      .map((named) => `${path} names ${named}, which is not there`),
    ...filesIn(text)
      .filter((named) => !ends.has(named))
      .map((named) => `${path} names ${named}, and no file is called so`),
  ])
}

const withoutBlocks = (text: string) => text.replaceAll(/^(```|~~~).*?^\1/gms, '').replaceAll(/<!--.*?-->/gs, '')

function foldersOf(path: string): string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Targets of links and pictures that lead into this repository. */
function linksIn(text: string): string[] {
  const prose = text.replaceAll(/`[^`\n]*`/g, '')
  const targets = [...prose.matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)].map(([, target = '']) => target)
  return targets.filter((target) => !/^[a-z]+:/i.test(target))
}

function isThere(link: string, from: string, texts: Map<string, string>, there: Set<string>): boolean {
  const [file = '', anchor] = link.split('#')
  const path = file === '' ? from : normalize(join(dirname(from), decodeURIComponent(file))).replace(/\/$/, '')
  if (!there.has(path)) return false
  const text = texts.get(path)
  return anchor === undefined || (text !== undefined && anchorsIn(text).has(anchor))
}

/** The anchors of headings, as GitHub makes them. */
function anchorsIn(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.matchAll(/^#{1,6} (.+)$/gm)) {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const base = words.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
    let anchor = base
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${base}-${count}`
    anchors.add(anchor)
  }
  return anchors
}

/** A path, and what is left of it without its first folders. */
function endsOf(path: string): string[] {
  const parts = path.split('/')
  return parts.map((_, index) => parts.slice(index).join('/'))
}

const folders = 'apps|libs|e2e|bench|scripts|charts|docs|proto|examples'

/** Paths from the root in inline code, those with a pattern or a placeholder left out. */
function pathsIn(text: string): string[] {
  const codes = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code.replace(/\/$/, ''))
  return codes.filter((code) => new RegExp(`^(?:${folders})/[\\w./-]+$`).test(code))
}

/** Files of source in inline code that are named without the folders above, such as `store/start-rows.ts`. */
function filesIn(text: string): string[] {
  const codes = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
  const isFile = (code: string) => /^[\w-][\w./-]*\.(?:ts|mjs|js|py|sh|proto|prisma)$/.test(code)
  return codes.filter((code) => isFile(code) && !new RegExp(`^(?:${folders})/`).test(code))
}
