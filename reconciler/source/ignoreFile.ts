import type { ManifestProblem } from '../manifest/manifestProblem.ts'

/** Name of the file at the root of a set that says what below it is left out. */
export const IGNORE_FILE = '.pharosignore'

/** Tells whether `path` (below the root, with forward slashes) is left out; what stands below a folder that is, is too. */
export type Ignores = (path: string, isFolder: boolean) => boolean

/** What an ignore file leaves out, and the lines of it that cannot be used. */
export interface IgnoreRules {
  readonly ignores: Ignores
  readonly problems: readonly ManifestProblem[]
}

interface Rule {
  /** Names of folders and files from the root on; `**` stands for any number of them. */
  readonly steps: readonly string[]
  readonly isForFolders: boolean
  readonly isException: boolean
}

/** A set without an ignore file. */
export const NOTHING_IGNORED: IgnoreRules = { ignores: () => false, problems: [] }

/**
 * Reads an ignore file, a small part of what git knows: one pattern to a line; `#` starts a comment; `*` and `?`
 * stand for characters of a name, `**` for folders; a slash at the end means folders only, one before that ties
 * the pattern to the root; `!` takes back what an earlier line left out. The last line that fits counts. Pure.
 */
export function readIgnoreRules(text: string, file: string): IgnoreRules {
  const problems: ManifestProblem[] = []
  const rules = text.split(/\r\n|\n|\r/).flatMap((line, index): readonly Rule[] => {
    const pattern = line.replace(/^\uFEFF/, '').trim()
    if (pattern === '' || pattern.startsWith('#')) return []
    const unknown = pattern.search(/[[\]\\]/)
    if (unknown < 0) return [ruleOf(pattern)]
    problems.push({
      code: 'E_VALUE',
      file,
      line: index + 1,
      column: line.indexOf(pattern) + unknown + 1,
      message: `${pattern[unknown]} is not understood in ${IGNORE_FILE}`,
      hint: 'there are *, ?, **, a slash at either end, and ! before a pattern',
    })
    return []
  })
  return { ignores: (path, isFolder) => isIgnored(rules, path, isFolder), problems }
}

function ruleOf(pattern: string): Rule {
  const isException = pattern.startsWith('!')
  const body = isException ? pattern.slice(1) : pattern
  const isForFolders = body.endsWith('/')
  const path = body.replace(/^\/+/, '').replace(/\/+$/, '')
  const isTied = body.startsWith('/') || path.includes('/')
  const steps = isTied ? path.split('/') : ['**', path]
  // What is inside a folder is not the folder itself.
  return { steps: steps.at(-1) === '**' ? [...steps, '*'] : steps, isForFolders, isException }
}

function isIgnored(rules: readonly Rule[], path: string, isFolder: boolean): boolean {
  const names = path.split('/')
  const last = rules.findLast(
    (rule) => (isFolder || !rule.isForFolders) && fitsAll(rule.steps, names, '**', fitsName),
  )
  return last !== undefined && !last.isException
}

function fitsName(step: string, name: string): boolean {
  return fitsAll([...step], [...name], '*', (wanted, character) => wanted === '?' || wanted === character)
}

/** Whether `parts`, of which `star` stands for any number of items, fit `items`. Takes at most their product in steps. */
function fitsAll(
  parts: readonly string[],
  items: readonly string[],
  star: string,
  fits: (part: string, item: string) => boolean,
): boolean {
  let part = 0
  let lastStar = -1
  let resumeAt = 0
  for (let item = 0; item < items.length; ) {
    const wanted = parts[part]
    if (wanted === star) {
      lastStar = part
      resumeAt = item
      part += 1
    } else if (wanted !== undefined && fits(wanted, items[item] ?? '')) {
      part += 1
      item += 1
    } else if (lastStar >= 0) {
      // The star takes one item more.
      part = lastStar + 1
      resumeAt += 1
      item = resumeAt
    } else return false
  }
  return parts.slice(part).every((rest) => rest === star)
}
