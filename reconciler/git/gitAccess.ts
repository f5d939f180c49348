/** How git reaches a repository. Everything here comes from the operator, nothing from a repository. */
export interface GitAccess {
  readonly url: string
  /** The one way that git may take. */
  readonly scheme: 'https' | 'ssh' | 'file'
  /** For https: sent to the address' own host only; absent where none is needed. */
  readonly credential?: { readonly username: string; readonly password: string } | undefined
  /** For ssh: the private key, and the hosts that are known. */
  readonly sshKeyFile?: string | undefined
  readonly knownHostsFile?: string | undefined
  /** For https: the certificates of issuers that the system does not know. */
  readonly caFile?: string | undefined
  /** Keys that may sign commits, in the form of `ssh-keygen`; absent where no such signature counts. */
  readonly allowedSignersFile?: string | undefined
  /** OpenPGP keys that may sign commits, as `gpg --export` writes them; absent where no such signature counts. */
  readonly gpgKeysFile?: string | undefined
}

/** The credentials of the authorization header; `undefined` where none are needed. */
export function loginOf({ credential }: GitAccess): string | undefined {
  return credential && Buffer.from(`${credential.username}:${credential.password}`).toString('base64')
}
