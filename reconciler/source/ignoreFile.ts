import ignore from 'ignore'
import type { ManifestProblem } from '../manifest/manifestProblem.ts'
import { decodeUtf8 } from '../manifest/read/utf8Text.ts'

/** Name of the file at the root of a set with patterns of files to leave out. */
export const IGNORE_FILE = '.pharosignore'

/** Whether `path` (below the root, with forward slashes) or one of its folders is ignored. */
export type Ignores = (path: string, isFolder: boolean) => boolean

/** The rules of an ignore file, and its problems. */
export interface IgnoreRules {
  readonly ignores: Ignores
  readonly problems: readonly ManifestProblem[]
}

/** A set without an ignore file. */
export const NOTHING_IGNORED: IgnoreRules = { ignores: () => false, problems: [] }

/** Patterns with more stars than these, whose matching time grows with each star. */
const TOO_MANY_STARS = /\*[^*/\n]+\*[^*/\n]+\*|\*\*.*\*\*.*\*\*/
/** Longest path that is matched (characters); only paths in repositories can be longer. */
const PATH_CHARS_MAX = 4_096

/** Parses the ignore file `file`, which has the syntax of `.gitignore`. Pure. */
export function readIgnoreRules(bytes: Buffer, file: string): IgnoreRules {
  const decoded = decodeUtf8(bytes)
  if (!('text' in decoded)) {
    const problem = {
      code: 'E_FILE',
      file,
      ...decoded.badAt,
      message: 'not UTF-8',
      hint: 'save the file as UTF-8',
    } as const
    return { ...NOTHING_IGNORED, problems: [problem] }
  }
  const lines = decoded.text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  const starsAt = (line: string): number => (line.startsWith('#') ? -1 : line.search(TOO_MANY_STARS))
  const problems = lines.flatMap((line, index): readonly ManifestProblem[] => {
    const at = starsAt(line)
    if (at < 0) return []
    const message = `a pattern of ${IGNORE_FILE} has too many stars`
    const hint = 'at most two * in one name and two ** in a pattern'
    return [{ code: 'E_VALUE', file, line: index + 1, column: at + 1, message, hint }]
  })
  const usable = lines.filter((line) => starsAt(line) < 0)
  const rules = ignore({ ignorecase: false, allowRelativePaths: true }).add(usable)
  const ignores: Ignores = (path, isFolder) =>
    path.length <= PATH_CHARS_MAX && rules.ignores(isFolder ? `${path}/` : path)
  return { ignores, problems }
}
