import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import * as z from 'zod'
import { parseDuration } from '../../api/contract/duration.ts'
import { formatPath, problemsOf } from '../../api/contract/problem.ts'
import { formatProblem, type ManifestProblem } from '../manifest/manifestProblem.ts'
import { Positions } from '../manifest/read/position.ts'
import { readYaml } from '../manifest/read/readYaml.ts'
import { suggestionFor } from '../manifest/suggestion.ts'
import { codeOf } from '../../api/runtime/errorCode.ts'
import { UsageError } from '../run/failure.ts'

/** Name of the file of rules. */
export const LINT_FILE = '.pharos-lint.yaml'

/** Kinds of assertions in manifests. */
const ASSERTIONS = ['status', 'latency', 'dns', 'header', 'body'] as const

const RULE_NAMES = ['assertions', 'https', 'interval', 'labels', 'regions'] as const
export type RuleName = (typeof RULE_NAMES)[number]

const duration = z
  .string({ error: 'must be a duration such as 30s' })
  .refine((text) => parseDuration(text) !== undefined, { error: 'must be a duration such as 30s' })
const names = z.array(z.string({ error: 'must be a string' }), { error: 'must be a list' })

const NOT_A_MAPPING = { error: 'must be a mapping' }
const NOT_LIMITS = { error: 'must be a mapping with min or max' }

const settingsSchema = z.strictObject(
  {
    assertions: z
      .union(
        [z.boolean(), z.array(z.enum(ASSERTIONS, { error: `must be one of ${ASSERTIONS.join(', ')}` }))],
        {
          error: `must be true, false or a list of ${ASSERTIONS.join(', ')}`,
        },
      )
      .default(true),
    https: z.boolean({ error: 'must be true or false' }).default(true),
    interval: z.strictObject({ min: duration.optional(), max: duration.optional() }, NOT_LIMITS).optional(),
    labels: z
      .record(z.string(), names, { error: 'must be a mapping of labels to lists of values' })
      .default({}),
    regions: z.int({ error: 'must be a whole number' }).min(1, { error: 'must be at least 1' }).default(1),
    // Names of services to which a rule does not apply.
    except: z
      .strictObject(
        {
          assertions: names.optional(),
          https: names.optional(),
          interval: names.optional(),
          labels: names.optional(),
          regions: names.optional(),
        },
        { error: 'must be a mapping of rules to lists of services' },
      )
      .default({}),
  },
  NOT_A_MAPPING,
)

/** Settings of the rules. */
export type LintSettings = z.output<typeof settingsSchema>

/**
 * The rules for the manifests at `path`: from `file`, or from the nearest `.pharos-lint.yaml` in its folder and those above, up to
 * the root of a git repository, or else the defaults, without a file. Throws UsageError with the place of a problem.
 */
export function readLintRules(
  path: string,
  file: string | undefined,
): { readonly settings: LintSettings; readonly file: string | undefined } {
  const found = file ?? nearest(resolve(path))
  return { settings: found === undefined ? settingsSchema.parse({}) : settingsOf(found), file: found }
}

function settingsOf(found: string): LintSettings {
  const text = textOf(found)
  const { documents, problems } = readYaml({ file: found, directory: '', text })
  const [problem] = problems
  if (problem !== undefined) throw new UsageError(formatProblem(problem))
  const second = documents[1]
  if (second !== undefined) {
    const place = new Positions(text).locate(second.index, [], 'value')
    const message = 'the file has several documents'
    throw new UsageError(formatProblem({ code: 'E_VALUE', file: found, ...place, message, hint: 'keep one' }))
  }
  const parsed = settingsSchema.safeParse(documents[0]?.value ?? {})
  if (parsed.success) return parsed.data
  const [first] = problemsOf(parsed.error)
  const isUnknown = first?.message === 'is not a known field'
  const place = new Positions(text).locate(0, first?.path ?? [], isUnknown ? 'key' : 'value')
  throw new UsageError(formatProblem({ code: 'E_VALUE', file: found, ...place, ...wordsOf(first) }))
}

function wordsOf(
  problem: ReturnType<typeof problemsOf>[number] | undefined,
): Pick<ManifestProblem, 'message' | 'hint'> {
  const { path = [], message = 'is wrong' } = problem ?? {}
  const name = formatPath(path) || 'the document'
  if (message !== 'is not a known field') return { message: `${name} ${message}` }
  const known = [...RULE_NAMES, 'except', 'min', 'max']
  const near = suggestionFor(String(path.at(-1)), known)
  return {
    message: `${name} ${message}`,
    hint: near === undefined ? `known are ${known.join(', ')}` : `did you mean ${near}?`,
  }
}

function nearest(path: string): string | undefined {
  for (let folder = path; ; folder = dirname(folder)) {
    const file = join(folder, LINT_FILE)
    if (existsSync(file)) return file
    if (existsSync(join(folder, '.git')) || dirname(folder) === folder) return undefined
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${codeOf(error)}): check --config`)
  }
}
