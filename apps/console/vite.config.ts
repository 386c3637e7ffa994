import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { budget } from './build/budget.ts'
import { chunkGroups } from './build/chunk-groups.ts'
import { firstPaint } from './build/first-paint.ts'

/** Of scripts before the first page can be used, gzipped. */
const INITIAL_MAX_BYTES = 150_000

/** Where the API of `npm run dev` is: the console's address of a system that runs. */
const system = process.env['CONSOLE_URL'] ?? 'http://localhost:8083'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), budget(INITIAL_MAX_BYTES), firstPaint(import.meta.dirname)],
  build: {
    target: 'es2024',
    // Inlined files would ask for `data:` where the content policy has none.
    assetsInlineLimit: 0,
    // Browsers of the target know it.
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ['index.html', 'terminal.html'],
      output: { codeSplitting: { groups: chunkGroups(import.meta.dirname) } },
    },
  },
  server: {
    port: 8084,
    strictPort: true,
    proxy: Object.fromEntries(
      ['/api', '/session', '/openapi.json'].map((path) => [
        path,
        // The system takes changes from its own origin alone.
        { target: system, changeOrigin: true, headers: { origin: new URL(system).origin }, ws: true },
      ]),
    ),
  },
})
