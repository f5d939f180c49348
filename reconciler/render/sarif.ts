import { isAbsolute } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import {
  LINT_MEANINGS,
  type ManifestProblem,
  PROBLEM_MEANINGS,
  type ProblemCode,
} from '../manifest/manifestProblem.ts'
import { pathFrom } from '../text/pathFrom.ts'

const SCHEMA = 'https://json.schemastore.org/sarif-2.1.0.json'
/** The base of relative paths: where the sources were checked out. */
const BASE_ID = '%SRCROOT%'

/** What a log tells: the problems found, and `message` when the command could not run at all. */
export interface SarifSubject {
  readonly problems: readonly ManifestProblem[]
  readonly exitCode: number
  readonly message: string | undefined
  /** Digest of the plan, where one was made. */
  readonly planDigest?: string | null | undefined
}

/**
 * One SARIF 2.1.0 log, as code scanners upload it: every problem with its rule and place, columns in UTF-16
 * units. Paths start at `cwd`. Pure.
 */
export function sarifLog({ problems, exitCode, message, planDigest }: SarifSubject, cwd: string): object {
  const codes = [...new Set(problems.map(({ code }) => code))].sort()
  const notifications =
    message === undefined
      ? {}
      : { toolExecutionNotifications: [{ level: 'error', message: { text: message } }] }
  return {
    $schema: SCHEMA,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'pharos',
            version: packageJson.version,
            semanticVersion: packageJson.version,
            rules: codes.map(ruleOf),
          },
        },
        columnKind: 'utf16CodeUnits',
        invocations: [{ executionSuccessful: message === undefined, exitCode, ...notifications }],
        results: problems.map((problem) => resultOf(problem, codes, cwd)),
        ...(planDigest == null ? {} : { properties: { planDigest } }),
      },
    ],
  }
}

function levelOf(code: ProblemCode): 'warning' | 'error' {
  return code.startsWith('E_') ? 'error' : 'warning'
}

function ruleOf(code: ProblemCode): object {
  return {
    id: code,
    shortDescription: { text: { ...PROBLEM_MEANINGS, ...LINT_MEANINGS }[code] },
    defaultConfiguration: { level: levelOf(code) },
  }
}

function resultOf(problem: ManifestProblem, codes: readonly ProblemCode[], cwd: string): object {
  const path = pathFrom(cwd, problem.file)
  const hint = problem.hint === undefined ? '' : ` (${problem.hint})`
  return {
    ruleId: problem.code,
    ruleIndex: codes.indexOf(problem.code),
    level: levelOf(problem.code),
    message: { text: `${problem.message}${hint}` },
    locations: [
      {
        physicalLocation: {
          artifactLocation: isAbsolute(path)
            ? { uri: `file://${uriPath(path)}` }
            : { uri: uriPath(path), uriBaseId: BASE_ID },
          region: regionOf(problem),
        },
      },
    ],
  }
}

function regionOf({ line, column, end }: ManifestProblem): object {
  const start = { startLine: line, startColumn: column }
  return end === undefined ? start : { ...start, endLine: end.line, endColumn: end.column }
}

function uriPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
