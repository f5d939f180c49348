import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Makes the empty folder `directory` a bare repository, as `git init --bare` does, but without a process and whatever
 * the user's settings are. Throws the errors of Node.
 */
export function makeBareRepository(directory: string): void {
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
    mkdirSync(join(directory, folder), { recursive: true })
  writeFileSync(join(directory, 'config'), '[core]\n\trepositoryformatversion = 0\n\tbare = true\n')
  // git recognizes a repository by this file: it comes last.
  writeFileSync(join(directory, 'HEAD'), 'ref: refs/heads/main\n')
}
