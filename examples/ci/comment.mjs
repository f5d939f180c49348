/**
 * Posts the file of the first argument as a comment on the pull or merge request of this job, under the heading of
 * the second; a later run with the same heading edits that comment, but no comment of a stranger. A longer file is
 * truncated to the size limit of comments, and the job's log has the rest. For GitHub Actions and GitLab CI.
 */
import { readFileSync } from 'node:fs'

const [file, name] = process.argv.slice(2)
const mark = `<!-- pharos ${name} -->`
const body = `${mark}\n**${name}**\n\n${bounded(readFileSync(file, 'utf8'))}`
const env = process.env

/** `text`, or the lines of it that fit, with a truncated block closed. GitHub accepts 65,536 characters. */
function bounded(text) {
  const most = 60_000
  if (text.length <= most) return text
  const kept = text.slice(0, text.lastIndexOf('\n', most) + 1)
  let fence
  for (const [, marks] of kept.matchAll(/^(`{3,}|~{3,})/gm)) {
    if (fence === undefined) fence = marks
    else if (marks.startsWith(fence)) fence = undefined
  }
  return `${kept}${fence ?? ''}\n\nThe rest was cut: ${text.length - kept.length} more characters.\n`
}

/** Authors who may edit the code too, and so the comment. */
const TRUSTED = ['OWNER', 'MEMBER', 'COLLABORATOR']

/** URL of the comments, the credentials of a request, and which comments are ours. */
function place() {
  if (env.GITHUB_ACTIONS !== undefined) {
    const { number } = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, 'utf8')).pull_request
    const issues = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}/issues`
    return {
      list: `${issues}/${number}/comments`,
      one: (id) => `${issues}/comments/${id}`,
      edit: 'PATCH',
      headers: { authorization: `Bearer ${env.GITHUB_TOKEN}` },
      ownership: async () => (comment) =>
        comment.user?.type === 'Bot' || TRUSTED.includes(comment.author_association),
    }
  }
  const notes = `${env.CI_API_V4_URL}/projects/${env.CI_PROJECT_ID}/merge_requests/${env.CI_MERGE_REQUEST_IID}/notes`
  return {
    list: notes,
    one: (id) => `${notes}/${id}`,
    edit: 'PUT',
    headers: { 'private-token': env.GITLAB_TOKEN },
    ownership: async () => {
      const { id } = await request('GET', `${env.CI_API_V4_URL}/user`)
      return (comment) => comment.author.id === id
    },
  }
}

const { list, one, edit, headers, ownership } = place()

async function request(method, url, content) {
  const response = await fetch(url, {
    method,
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'pharos' },
    ...(content === undefined ? {} : { body: JSON.stringify(content) }),
  })
  if (!response.ok) throw new Error(`${method} ${url} responded with ${response.status}`)
  return response.json()
}

async function earlierComment() {
  const isOurs = await ownership()
  for (let page = 1; ; page += 1) {
    const comments = await request('GET', `${list}?per_page=100&page=${page}`)
    const found = comments.find((comment) => comment.body.startsWith(mark) && isOurs(comment))
    if (found !== undefined || comments.length < 100) return found
  }
}

const earlier = await earlierComment()
if (earlier === undefined) await request('POST', list, { body })
else await request(edit, one(earlier.id), { body })
