/** Supported protocols; `file` only if the operator allows it. */
export type GitScheme = 'https' | 'ssh' | 'file'

/** `git@github.com:shop/monitoring.git`: the short form of an ssh address. */
const SCP_FORM = /^[A-Za-z0-9_][\w.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[\w~./][\w~./@+%-]*$/

/**
 * The scheme of a repository's address, or why it cannot be used. Addresses that git would treat as an option, a program
 * (`ext::sh -c …`) or a helper (`anything::…`) are refused. Pure.
 */
export function gitSchemeOf(
  url: string,
  allowed: { readonly file: boolean },
): { readonly scheme: GitScheme } | { readonly problem: string } {
  if (SCP_FORM.test(url)) return { scheme: 'ssh' }
  if (!/^(?:https|ssh|file):\/\/[\x21-\x7e]+$/.test(url) || url.includes('\\') || !URL.canParse(url)) {
    return { problem: 'must be an https:// or ssh:// address, or git@host:path' }
  }
  const parsed = new URL(url)
  // A host that starts with a dash would be an option of ssh.
  if (parsed.hostname.startsWith('-')) return { problem: 'must have a host that does not start with "-"' }
  if (parsed.password !== '' || (parsed.protocol === 'https:' && parsed.username !== '')) {
    return {
      problem:
        'must contain no credential, which logs and pages would show: set PHAROS_GIT_TOKEN, or "credential" in the configuration of the controller',
    }
  }
  if (/[?#]/.test(url)) {
    return { problem: 'must have no query and no fragment: git needs none, and a token in it would be shown' }
  }
  if (parsed.protocol === 'file:') {
    if (!allowed.file) return { problem: 'may be a file:// address only with allowFile: true' }
    return parsed.hostname === '' ? { scheme: 'file' } : { problem: 'must be file:///absolute/path' }
  }
  if (parsed.hostname === '') return { problem: 'must have a host' }
  return { scheme: parsed.protocol === 'https:' ? 'https' : 'ssh' }
}

/** Whether `address` is no path: it begins with a scheme, even with too few slashes, or is `user@host:path`. Pure. */
export function isAddress(address: string): boolean {
  return /^[A-Za-z][\w+.-]+:|^[^/]+@[^/]+:/.test(address)
}

/** An invalid `address` for messages: without a user, a password, a query, and fragments other than refs. Pure. */
export function withoutLogin(address: string): string {
  return address
    .replace(/^((?:git:)?(?:[A-Za-z][\w+.-]*:)?\/*).*@/, '$1…@')
    .replace(/\?[^#]*/, '?…')
    .replace(/#(?!refs\/)[^#]*/g, '#…')
}

/** Why `branch` is not a valid name of a branch; `undefined` when it is. Pure. */
export function branchProblem(branch: string): string | undefined {
  const isPlain = /^[A-Za-z0-9_][\w./+#-]*$/.test(branch)
  const isOdd = /\.\.|\/\/|\/\.|\.lock(?:\/|$)|[./]$/.test(branch)
  return isPlain && !isOdd && branch.length <= 255
    ? undefined
    : 'must be the name of a branch, without refs/heads/'
}

/** Why `path` is not a valid path in a repository; `undefined` when it is. `.` is the root. Pure. */
export function treePathProblem(path: string): string | undefined {
  const isRelative = path !== '' && !path.startsWith('/') && !/\p{Cc}|\\/u.test(path)
  const steps = path.replace(/\/+$/, '').split('/')
  const isClean = path === '.' || steps.every((step) => step !== '' && step !== '.' && step !== '..')
  return isRelative && isClean
    ? undefined
    : 'must be a path inside the repository, without "." and "..", or "." for all of it'
}

/**
 * The common part of all addresses of one repository: host and path, in lower case; `undefined` when `url` is invalid.
 *
 * Scheme, user, port, the suffix `.git` and at common hosts the case of the path do not matter. Two repositories with the same
 * identity only cause an unnecessary fetch. Pure.
 */
export function repositoryIdentity(url: string): string | undefined {
  const [, host, path] = /^(?:[^@/:]+@)?([^@/:]+):(?!\/\/)(.+)$/.exec(url) ?? []
  if (host !== undefined && path !== undefined) return identityOf(host, path)
  if (!URL.canParse(url)) return undefined
  const parsed = new URL(url)
  return identityOf(parsed.hostname, parsed.pathname)
}

function identityOf(host: string, path: string): string {
  const bare = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/i, '')
  return `${host}/${bare}`.toLowerCase()
}
