import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'

/** A file of a commit. */
export interface CommitFile {
  readonly name: string
  readonly content: string
}

/** The fields of a commit besides its files. */
export interface CommitFields {
  /** SHA of the parent; absent for none. */
  readonly parent?: string | undefined
  readonly message: string
  /** Name and address in the form `NAME <ADDRESS>`. */
  readonly author: string
  /** Seconds since the epoch. */
  readonly atSecs: number
}

/**
 * Writes a commit of `files`, sorted by name, into the repository `directory`; returns its SHA. git would take a
 * process for each object. Throws the errors of Node.
 */
export async function writeCommit(
  directory: string,
  files: readonly CommitFile[],
  { parent, message, author, atSecs }: CommitFields,
): Promise<string> {
  const entries: Buffer[] = []
  for (const { name, content } of files) {
    const sha = await writeObject(directory, 'blob', Buffer.from(content))
    entries.push(Buffer.from(`100644 ${name}\0`), Buffer.from(sha, 'hex'))
  }
  const tree = await writeObject(directory, 'tree', Buffer.concat(entries))
  const lines = [
    `tree ${tree}`,
    ...(parent === undefined ? [] : [`parent ${parent}`]),
    `author ${author} ${atSecs} +0000`,
    `committer ${author} ${atSecs} +0000`,
  ]
  return writeObject(directory, 'commit', Buffer.from(`${lines.join('\n')}\n\n${message}\n`))
}

/** Writes a loose object in the format of git; returns its SHA. */
async function writeObject(
  directory: string,
  type: 'blob' | 'tree' | 'commit',
  content: Buffer,
): Promise<string> {
  const object = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content])
  const sha = createHash('sha1').update(object).digest('hex')
  const folder = join(directory, 'objects', sha.slice(0, 2))
  mkdirSync(folder, { recursive: true })
  // Under its own name it is complete.
  const temporary = join(folder, `tmp_obj_${sha}`)
  writeFileSync(temporary, await promisify(deflate)(object))
  renameSync(temporary, join(folder, sha.slice(2)))
  return sha
}
