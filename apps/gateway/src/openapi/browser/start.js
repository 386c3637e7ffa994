// Runs in the browser, behind the policy of pages.ts.

// Where the gateway is, which may be below a path of a proxy.
const root = new URL('..', import.meta.url)

/** The document as this page needs it: calls go to where the page came from, and authorizing means an access token. */
async function readDocument() {
  const document = await (await fetch(new URL('openapi.json', root))).json()
  document.servers = [{ url: root.href.replace(/\/$/, '') }]
  // Its token address has the slug of the team in it, which a dialog for client secrets has no field for.
  delete document.components.securitySchemes.oauth2
  for (const operations of Object.values(document.paths))
    for (const operation of Object.values(operations))
      operation.security &&= operation.security.filter((scheme) => !('oauth2' in scheme))
  return document
}

window.SwaggerUIBundle({
  spec: await readDocument(),
  domNode: document.getElementById('page'),
  deepLinking: true,
  docExpansion: 'list',
  tryItOutEnabled: true,
  displayRequestDuration: true,
  filter: true,
  defaultModelsExpandDepth: 0,
})
