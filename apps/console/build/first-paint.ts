import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Plugin, Rolldown } from 'vite'
import { initialChunks } from './budget.ts'
import { firstFrame } from './first-frame.ts'

/** Of what stands in the page itself, so that nothing has to come before it is drawn. */
const styles = ['src/theme.css', 'src/shell/first-frame.css']

/**
 * Puts into index.html what is drawn before any script runs, and what `public/first.js` asks for at once. All other styles
 * go to the end of the body: what stands before them is drawn without them, and no script runs before they are there.
 * Neither they nor the scripts of the pages are needed for the first picture, so they come behind all else.
 */
export function firstPaint(root: string): Plugin {
  return {
    name: 'first-paint',
    transformIndexHtml: {
      order: 'post',
      handler(html, { path, bundle }) {
        if (path !== '/index.html') return undefined
        const links: string[] = []
        const page = html.replaceAll(/\s*<link rel="stylesheet"[^>]*>/g, (link) => {
          links.push(link.trim())
          return ''
        })
        const texts = styles.map((file) => dense(readFileSync(join(root, file), 'utf8')))
        const files = JSON.stringify(pageFiles(bundle ?? {}))
        return page
          .replace('<!-- first-styles -->', () => `<style nonce="__NONCE__">${texts.join('')}</style>`)
          .replace('<!-- page-files -->', () => `<script type="application/json" id="page-files">${files}</script>`)
          .replace('<!-- first-frame -->', firstFrame)
          .replace('</body>', () => `${links.join('')}</body>`)
          .replaceAll(
            /<(?:script type="module"|link rel="(?:modulepreload|stylesheet)")(?= )/g,
            '$& fetchpriority="low"',
          )
      },
    },
  }
}

/** Files, and which of them a page needs beside those that all need: by the name of its own, as places in the list. */
interface PageFiles {
  files: string[]
  pages: Record<string, number[]>
}

function pageFiles(bundle: Rolldown.OutputBundle): PageFiles {
  const chunks = new Map(
    Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file]] : [])),
  )
  const filesOf = (chunk: Rolldown.OutputChunk) => [chunk.fileName, ...(chunk.viteMetadata?.importedCss ?? [])]
  const initial = new Set([...initialChunks(bundle)].flatMap(filesOf))
  const files: string[] = []
  const placeOf = (file: string) => {
    if (!files.includes(file)) files.push(file)
    return files.indexOf(file)
  }
  const pages: Record<string, number[]> = {}
  for (const chunk of chunks.values()) {
    const name = basename(chunk.facadeModuleId ?? '', '.tsx')
    if (!/-(?:page|tab)$/.test(name)) continue
    const needed = [chunk, ...chunk.imports.flatMap((one) => chunks.get(one) ?? [])].flatMap(filesOf)
    pages[name] = [...new Set(needed.filter((file) => !initial.has(file)).map(placeOf))]
  }
  return { files, pages }
}

/** CSS without comments and what space it does not need. */
const dense = (css: string) =>
  css
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,]) ?/g, '$1')
    .trim()
