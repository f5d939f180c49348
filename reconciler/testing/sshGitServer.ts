import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'

/** Where Debian puts the server; `.ci/run` installs it. */
const SSHD = '/usr/sbin/sshd'

/** bash reads the settings of the user at the start of a remote command, unless it is below another shell. */
const WITHOUT_BASHRC = 'SetEnv SHLVL=1'

/** Why tests over ssh cannot run here; null when they can. Under CI they never go unnoticed: they fail. */
export const sshSkipReason = existsSync(SSHD) || process.env.CI === 'true' ? null : `no sshd at ${SSHD}`

/** A real sshd on the loopback, for the user that runs the tests. */
export interface SshGitServer {
  /** Address of the repository in the folder `directory`. */
  readonly urlOf: (directory: string) => string
  /** A key that it lets in, and one that it does not know. */
  readonly keyFile: string
  readonly strangersKeyFile: string
  /** Knows the key of this host. */
  readonly knownHostsFile: string
  /** Says that the host has another key than it has. */
  readonly wrongHostsFile: string
  readonly close: () => Promise<void>
}

/** Starts one whose keys and settings are made in `folder`. */
export async function sshGitServer(folder: string): Promise<SshGitServer> {
  const at = (name: string): string => join(folder, name)
  for (const name of ['host', 'user', 'stranger']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', at(name)])
  }
  const port = await freePort()
  const publicKey = (name: string): string => readFileSync(at(`${name}.pub`), 'utf8').replace(/ \w+\n$/, '')
  writeFileSync(at('known_hosts'), `[127.0.0.1]:${port} ${publicKey('host')}\n`)
  writeFileSync(at('wrong_hosts'), `[127.0.0.1]:${port} ${publicKey('stranger')}\n`)
  writeFileSync(
    at('sshd_config'),
    `Port ${port}
ListenAddress 127.0.0.1
HostKey ${at('host')}
AuthorizedKeysFile ${at('user.pub')}
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
${WITHOUT_BASHRC}
`,
  )
  // What starts sshd elsewhere makes this folder, without which root's refuses to start.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const child = spawn(SSHD, ['-D', '-e', '-f', at('sshd_config')], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', () => reject(new Error(`sshd ended: ${said}`)))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('Server listening on')) resolve()
    })
  })
  return {
    urlOf: (directory) => `ssh://${userInfo().username}@127.0.0.1:${port}${directory}`,
    keyFile: at('user'),
    strangersKeyFile: at('stranger'),
    knownHostsFile: at('known_hosts'),
    wrongHostsFile: at('wrong_hosts'),
    close: async () => {
      child.removeAllListeners('exit')
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('there is no free port')
  return address.port
}
