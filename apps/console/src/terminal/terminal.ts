import '@xterm/xterm/css/xterm.css'
import './terminal.css'
import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import { Connection } from './connection.ts'
import { themeNow, watchTheme } from './themes.ts'

/** A frame has at most 256 KiB; more is pasted in pieces. */
const MAX_PIECE = 16_384

const values = new URLSearchParams(location.search)
const team = values.get('team') ?? ''
const sandbox = values.get('sandbox') ?? ''
const place = document.getElementById('terminal')
if (place === null) throw new Error('terminal.html has no element #terminal')
document.title = `Terminal · ${values.get('name') ?? sandbox}`

const terminal = new Terminal({
  cursorBlink: true,
  fontFamily: "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  fontSize: 13,
  scrollback: 5000,
  theme: themeNow(),
  screenReaderMode: values.has('reader'),
  minimumContrastRatio: 4.5,
})
const fit = new FitAddon()
terminal.loadAddon(fit)
terminal.open(place)
fit.fit()
terminal.focus()
watchTheme(() => (terminal.options.theme = themeNow()))

let connection: Connection | undefined
connect()

terminal.onData((text) => {
  if (connection === undefined) {
    if (text === '\r') connect()
    return
  }
  for (let at = 0; at < text.length; at += MAX_PIECE) connection.type(text.slice(at, at + MAX_PIECE))
})
terminal.onBinary((binary) => connection?.typeBytes(binary))
terminal.onResize(({ cols, rows }) => connection?.resize(cols, rows))
new ResizeObserver(() => fit.fit()).observe(place)

// The way out for the keyboard, as the terminal takes Tab and Esc.
terminal.attachCustomKeyEventHandler((event) => {
  const isWayOut = event.ctrlKey && event.shiftKey && event.code === 'KeyL'
  if (isWayOut && event.type === 'keydown') {
    event.preventDefault()
    terminal.blur()
    window.parent.postMessage({ terminal: 'left' }, location.origin)
  }
  return !isWayOut
})

/** Opens a shell of its own, in the size of the window. */
function connect(): void {
  const path = `/api/${encodeURIComponent(team)}/rest/sandboxes/${encodeURIComponent(sandbox)}/terminal`
  const address = new URL(`${path}?cols=${terminal.cols}&rows=${terminal.rows}`, location.href)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  connection = new Connection(address.href, {
    open: () => connection?.resize(terminal.cols, terminal.rows),
    output: (bytes) => terminal.write(bytes),
    ended: (reason) => {
      connection = undefined
      terminal.write(`\r\n\x1b[2m${reason}. Press Enter for a new shell.\x1b[0m\r\n`)
    },
  })
}
