import { failureMarkdown } from '../render/planMarkdown.ts'
import { sarifLog } from '../render/sarif.ts'
import type { Failure } from '../run/failure.ts'
import type { Format } from '../text/format.ts'
import { githubAnnotation } from '../text/githubAnnotation.ts'
import { failureJunit } from './checks/junit.ts'
import type { CommandResult } from './session/context.ts'

/** The result of a command, or why it could not run. */
export type Ending = { readonly result: CommandResult } | { readonly failure: Failure }

/**
 * The text that `format` prints at the end of `command`, after the lines printed meanwhile; `undefined` for none. Paths of
 * manifests are relative to the folder `cwd`. Pure.
 */
export function closingText(
  format: Format,
  command: string,
  ending: Ending,
  cwd: string,
): string | undefined {
  switch (format) {
    case 'text':
      return undefined
    case 'github':
      return 'failure' in ending ? githubAnnotation(ending.failure.message) : undefined
    case 'json':
      return JSON.stringify(closingDocument(command, ending), null, 2)
    case 'sarif':
      return JSON.stringify(sarifLog(sarifSubject(ending), cwd), null, 2)
    case 'markdown':
      return 'failure' in ending ? failureMarkdown(ending.failure.message) : ending.result.markdown
    case 'junit':
      return 'failure' in ending ? failureJunit(ending.failure.message) : ending.result.junit
  }
}

function closingDocument(command: string, ending: Ending): object {
  if ('result' in ending) return { command, exitCode: ending.result.exitCode, ...ending.result.document }
  return { command, exitCode: ending.failure.exitCode, error: ending.failure }
}

function sarifSubject(ending: Ending): Parameters<typeof sarifLog>[0] {
  if ('failure' in ending) return { problems: [], ...ending.failure }
  const { exitCode, problems = [], planDigest } = ending.result
  return { problems, exitCode, message: undefined, planDigest }
}
