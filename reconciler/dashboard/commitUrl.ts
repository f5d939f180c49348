/** `https://`, `ssh://git@` or `git@` before host and path of a repository. */
const REPOSITORY = /^(?:https:\/\/|ssh:\/\/git@|git@)([a-z0-9.-]+)[/:]([\w.-]+(?:\/[\w.-]+)+)$/i

/**
 * Where GitHub or GitLab shows the commit `sha` of `repository`; `null` for a repository elsewhere, whose pages are not
 * known. A GitLab of one's own is recognized by a host that begins with `gitlab.`. Pure.
 */
export function commitUrl(repository: string, sha: string): string | null {
  const [, host = '', path = ''] = REPOSITORY.exec(repository.replace(/(?:\.git)?\/?$/, '')) ?? []
  const folder = host === 'github.com' ? 'commit' : host.startsWith('gitlab.') ? '-/commit' : null
  if (folder === null || path.split('/').includes('..') || !/^[0-9a-f]{7,64}$/.test(sha)) return null
  return `https://${host}/${path}/${folder}/${sha}`
}
