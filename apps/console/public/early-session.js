// Asks who is signed in while the scripts of the pages are still on their way; these take the answer in place of a call of
// their own. Visitors of a form need no session.
if (!window.location.pathname.startsWith('/forms/')) {
  const early = document.createElement('link')
  early.rel = 'preload'
  early.as = 'fetch'
  early.crossOrigin = 'anonymous'
  early.href = '/session'
  document.head.append(early)
}
