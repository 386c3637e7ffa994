/** Signs in by the code of a link and gives the cookies of the session, as a header has them. */
export async function sessionBy(link: URL): Promise<string> {
  const code = new URLSearchParams(link.hash.slice(1)).get('code')
  const response = await fetch(`${link.origin}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: link.origin, 'x-console': '1' },
    body: JSON.stringify({ code }),
  })
  if (response.status !== 201) throw new Error(`The link did not sign in: ${response.status} ${await response.text()}`)
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')
}
