// Puts a plan into a comment of its pull request: into that of an earlier run where there is one.
//
//   node comment-plan.mjs PLAN.md
//
// What GitHub refuses is a warning: the plan is in the summary of the run as well.
import { readFile } from 'node:fs/promises'

const {
  GITHUB_API_URL: api = 'https://api.github.com',
  GITHUB_REPOSITORY: repository = '',
  GITHUB_REF: ref = '',
  GITHUB_TOKEN: token = '',
  PAS_CONTEXT: context = '',
  FOLDER: folder = '.',
} = process.env
const [, number] = /^refs\/pull\/(\d+)\//.exec(ref) ?? []
// Each context and folder of a workflow has a comment of its own.
const ofContext = context === '' ? '' : `: ${context}`
const marker = `<!-- plan of pas in ${folder}${ofContext} -->`
/** Of a comment that an earlier release has made: whichever folder comes first goes on with it. */
const formerMarker = `<!-- plan of pas${ofContext} -->`
/** GitHub takes 65,536. */
const mostCharacters = 60_000

try {
  await comment()
} catch (error) {
  console.log(`::warning::The plan is in the summary alone; it could not be a comment: ${error.message}`)
}

async function comment() {
  if (number === undefined) throw new Error(`${ref} is no pull request`)
  const body = `${marker}\n${bounded(await readFile(process.argv[2], 'utf8'))}`
  const before = await commentBefore()
  if (before === undefined) await call('POST', `issues/${number}/comments`, { body })
  else if (before.body !== body) await call('PATCH', `issues/comments/${before.id}`, { body })
}

function bounded(plan) {
  if (plan.length <= mostCharacters) return plan
  return `${plan.slice(0, plan.lastIndexOf('\n', mostCharacters))}\n\nThe rest is in the summary of the run.\n`
}

async function commentBefore() {
  const perPage = 100
  let former
  for (let page = 1; ; page += 1) {
    const comments = await call('GET', `issues/${number}/comments?per_page=${perPage}&page=${page}`)
    const ours = comments.filter(isOfTheTeam)
    const found = ours.find(({ body }) => body.startsWith(marker))
    former ??= ours.find(({ body }) => body.startsWith(formerMarker))
    if (found !== undefined || comments.length < perPage) return found ?? former
  }
}

/** A plan in the comment of a stranger could be changed by the stranger. */
function isOfTheTeam({ user, author_association: association }) {
  return user?.type === 'Bot' || ['OWNER', 'MEMBER', 'COLLABORATOR'].includes(association)
}

async function call(method, path, body) {
  const response = await fetch(`${api}/repos/${repository}/${path}`, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'x-github-api-version': '2022-11-28',
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  })
  if (response.ok) return response.json()
  const hint = response.status === 403 ? '; the job wants permissions: { contents: read, pull-requests: write }' : ''
  throw new Error(`${method} ${path} was answered with ${response.status}${hint}`)
}
