// Runs before the first paint, as no program may stand in the page itself.
{
  // No other theme is seen for a moment.
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme

  const path = window.location.pathname
  const ask = (rel, href, as) => {
    const link = document.createElement('link')
    Object.assign(link, { rel, href, crossOrigin: 'anonymous' })
    if (as !== undefined) link.as = as
    document.head.append(link)
  }
  // Who is signed in is asked while the scripts of the pages are still on their way; these take the answer in place of a
  // call of their own. Visitors of a form need no session.
  if (!/^\/(?:forms\/|terminal\.html$)/.test(path)) ask('preload', '/session', 'fetch')

  const keptTeam = () => {
    try {
      const [team] = JSON.parse(localStorage.getItem('kept:team') ?? '[]')
      return typeof team === 'string' ? team : undefined
    } catch {
      // Not what a page has kept.
      return undefined
    }
  }
  const [, area, place, name = 'home', id, tab] = path.replace(/\/$/, '').split('/')
  // The team that was open last, where somebody is signed in: the start leads to it.
  const team = keptTeam()
  if (area === 't' || (path === '/' && team !== undefined)) {
    document.documentElement.dataset.frame = ''
    // The files of the page come beside those of all pages, not behind them.
    const { files, pages } = JSON.parse(document.getElementById('page-files').textContent)
    const page = id === undefined ? name : id === 'compare' ? id : name.replace(/(?<=ss|x)es$|s$/, '')
    for (const one of [`${page}-page`, `${tab}-tab`].flatMap((file) => pages[file] ?? [])) {
      const isStyle = files[one].endsWith('.css')
      ask(isStyle ? 'preload' : 'modulepreload', `/${files[one]}`, isStyle ? 'style' : undefined)
    }
    // What Home shows is asked for as its queries do; they take these answers.
    if (page === 'home' && team !== undefined && (area === '' || place === team)) {
      const hour = 3_600_000
      const to = Math.floor(Date.now() / hour) * hour + hour
      const day = new URLSearchParams({ from: new Date(to - 24 * hour).toISOString(), to: new Date(to).toISOString() })
      const paths = [
        'processes/summaries?limit=1',
        'limits',
        'executions?status=ERROR&status=REJECTED&limit=6',
        `executions/statistics?${day}&bucket=hour`,
        `executions/statistics?${day}&bucket=hour&by=process`,
      ]
      const addresses = paths.map((one) => `/api/${team}/rest/${one}`)
      window.firstAnswers = Object.fromEntries(
        addresses.map((one) => [one, fetch(one, { headers: { 'X-Console': '1' } }).catch(() => undefined)]),
      )
    }
  }
}
