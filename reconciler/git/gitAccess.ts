/** Access to a repository. All of it comes from the operator, nothing from a repository. */
export interface GitAccess {
  readonly url: string
  /** The only protocol that git may use. */
  readonly scheme: 'https' | 'ssh' | 'file'
  /** For https: sent to the host of the address only; absent for none. */
  readonly credential?: { readonly username: string; readonly password: string } | undefined
  /** For ssh: the private key, and the known hosts. */
  readonly sshKeyFile?: string | undefined
  readonly knownHostsFile?: string | undefined
  /** For https: further CA certificates. */
  readonly caFile?: string | undefined
  /** File of SSH keys that may sign commits, in the format of `ssh-keygen`; absent for none. */
  readonly allowedSignersFile?: string | undefined
  /** File of OpenPGP keys that may sign commits, written by `gpg --export`; absent for none. */
  readonly gpgKeysFile?: string | undefined
}

/** The credentials of the authorization header; `undefined` for none. */
export function loginOf({ credential }: GitAccess): string | undefined {
  return credential && Buffer.from(`${credential.username}:${credential.password}`).toString('base64')
}
