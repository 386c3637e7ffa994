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

  const [, area, , name = 'home', id, tab] = path.replace(/\/$/, '').split('/')
  // The start leads to the team that was open last, where somebody is signed in.
  if (area === 't' || (path === '/' && localStorage.getItem('kept:team') !== null)) {
    document.documentElement.dataset.frame = ''
    // The files of the page come beside those of all pages, not behind them.
    const { files, pages } = JSON.parse(document.getElementById('page-files').textContent)
    const page = id === undefined ? name : id === 'compare' ? id : name.replace(/(?<=ss|x)es$|s$/, '')
    for (const place of [`${page}-page`, `${tab}-tab`].flatMap((file) => pages[file] ?? [])) {
      const isStyle = files[place].endsWith('.css')
      ask(isStyle ? 'preload' : 'modulepreload', `/${files[place]}`, isStyle ? 'style' : undefined)
    }
  }
}
