import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Root of this checkout. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * The environment of a reader who types our commands in `folder`: the built commands on the PATH, an author for git,
 * and no settings of the current user.
 */
export function readersEnvironment(folder: string): NodeJS.ProcessEnv {
  const commands = join(folder, '.bin')
  mkdirSync(commands)
  for (const command of ['pharos', 'pharos-server', 'pharos-agent', 'pharos-provider']) {
    symlinkSync(join(root, 'dist', `${command}.js`), join(commands, command))
  }
  const inherited = Object.entries(process.env).filter(([name]) => !/^(?:PHAROS|TF|GIT|CDKTF)_/.test(name))
  return {
    ...Object.fromEntries(inherited),
    PATH: [commands, join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    HOME: folder,
    CHECKPOINT_DISABLE: '1',
    NO_COLOR: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_AUTHOR_NAME: 'Reader',
    GIT_AUTHOR_EMAIL: 'reader@example.com',
    GIT_COMMITTER_NAME: 'Reader',
    GIT_COMMITTER_EMAIL: 'reader@example.com',
  }
}
