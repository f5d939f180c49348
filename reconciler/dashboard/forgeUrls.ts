/** `https://`, `ssh://git@` or `git@` before host and path of a repository. */
const REPOSITORY = /^(?:https:\/\/|ssh:\/\/git@|git@)([a-z0-9.-]+)[/:]([\w.-]+(?:\/[\w.-]+)+)$/i

/**
 * The page of the commit `sha` of `repository` on GitHub or GitLab; `null` for other hosts. A self-managed GitLab is recognised
 * by a host that begins with `gitlab.`. Pure.
 */
export function commitUrl(repository: string, sha: string): string | null {
  return pageUrl(repository, 'commit', sha)
}

/** The page of the file `path` of `repository` at the commit `sha`; `null` as for `commitUrl`. Pure. */
export function fileUrl(repository: string, sha: string, path: string): string | null {
  const url = pageUrl(repository, 'blob', sha)
  const segments = path.split('/')
  // A lone surrogate cannot be encoded.
  const isPath = !/\p{Cs}/u.test(path) && !segments.some((one) => ['', '.', '..'].includes(one))
  return url !== null && isPath ? `${url}/${segments.map(encodeURIComponent).join('/')}` : null
}

function pageUrl(repository: string, page: 'commit' | 'blob', sha: string): string | null {
  const [, host = '', path = ''] = REPOSITORY.exec(repository.replace(/(?:\.git)?\/?$/, '')) ?? []
  const folder = host === 'github.com' ? page : host.startsWith('gitlab.') ? `-/${page}` : null
  if (folder === null || path.split('/').includes('..') || !/^[0-9a-f]{7,64}$/.test(sha)) return null
  return `https://${host}/${path}/${folder}/${sha}`
}
