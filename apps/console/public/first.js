// Runs before the first paint, as no program may stand in the page itself.
{
  // No other theme is seen for a moment.
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme

  const path = window.location.pathname
  const [, area, place, name, id, tab] = path.replace(/\/$/, '').split('/')
  const keptTeam = () => {
    try {
      const [team] = JSON.parse(localStorage.getItem('kept:team') ?? '[]')
      return typeof team === 'string' ? team : undefined
    } catch {
      // Not what a page has kept.
      return undefined
    }
  }
  // The team that was open last, where somebody is signed in: the start leads to it.
  const kept = keptTeam()

  const ask = (rel, href, as) => {
    const link = document.createElement('link')
    Object.assign(link, { rel, href, crossOrigin: 'anonymous' })
    if (as !== undefined) link.as = as
    document.head.append(link)
  }
  if (area === 't' || (path === '/' && kept !== undefined)) {
    document.documentElement.dataset.frame = ''
    // The files of the page come beside those of all pages, not behind them.
    const { files, pages } = JSON.parse(document.getElementById('page-files').textContent)
    const page = id === undefined ? (name ?? 'home') : id === 'compare' ? id : name.replace(/(?<=ss|x)es$|s$/, '')
    for (const one of [`${page}-page`, `${tab}-tab`].flatMap((file) => pages[file] ?? [])) {
      const isStyle = files[one].endsWith('.css')
      ask(isStyle ? 'preload' : 'modulepreload', `/${files[one]}`, isStyle ? 'style' : undefined)
    }
  }

  // What the pages ask for first comes while their scripts are still on their way; they take these answers in place of calls
  // of their own.
  const answers = (window.firstAnswers = {})
  const call = (address) => fetch(address, { headers: { 'X-Console': '1' } }).catch(() => undefined)
  const hour = 3_600_000
  const to = Math.floor(Date.now() / hour) * hour + hour
  const day = new URLSearchParams({ from: new Date(to - 24 * hour).toISOString(), to: new Date(to).toISOString() })
  // As the queries of Home do.
  const askForHome = (team) => {
    const paths = [
      'processes/summaries?limit=1',
      'limits',
      'executions?status=ERROR&status=REJECTED&limit=6',
      `executions/statistics?${day}&bucket=hour`,
      `executions/statistics?${day}&bucket=hour&by=process`,
    ]
    for (const one of paths) answers[`/api/${team}/rest/${one}`] ??= call(`/api/${team}/rest/${one}`)
  }
  const isHome = path === '/' || (area === 't' && name === undefined)
  const team = path === '/' ? kept : place
  if (isHome && team !== undefined && team === kept) askForHome(team)
  // Who is signed in. The pages know it only when all that it allows has been asked for.
  const askForSession = async () => {
    const answer = await call('/session')
    if (isHome && answer?.ok) {
      const { teams = [] } = await answer.clone().json()
      const open = teams.find(({ slug }) => slug === team) ?? (path === '/' ? teams[0] : undefined)
      if (open !== undefined) askForHome(open.slug)
    }
    return answer
  }
  // Visitors of a form need no session.
  if (!/^\/(?:forms\/|terminal\.html$)/.test(path)) answers['/session'] = askForSession()
}
