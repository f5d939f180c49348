import { EXIT } from '../run/exitCode.ts'
import { type Failure, Interrupted } from '../run/failure.ts'
import { failureOf } from '../run/failureOf.ts'
import { formatOf } from '../text/format.ts'
import { outputOn, reportFailure, type Streams } from '../text/output.ts'
import { closingText, type Ending } from './closingText.ts'
import type { CommandContext, CommandResult } from './session/context.ts'
import type { Interruption } from './session/interruption.ts'
import { type CommandOptions, settingNames } from './session/settings.ts'

/** The state after a second request to stop. */
const AT_ONCE =
  'the program ended at once; the next run determines the results of requests that were under way'

/** Runs `command`, prints its closing text or its error, and resolves with the exit code. Never rejects. */
export async function runCommand(
  name: string,
  options: CommandOptions,
  streams: Streams,
  interruption: Interruption,
  command: (context: CommandContext) => Promise<CommandResult>,
): Promise<number> {
  const format = formatOf(options)
  const output = outputOn(streams, format, options.quiet)
  let hasEnded = false
  const end = (ending: Ending): void => {
    if (hasEnded) return
    hasEnded = true
    const text = closingText(format, name, ending, streams.cwd)
    if (text !== undefined) output.closing(text)
  }
  const fail = (failure: Failure): void => {
    reportFailure(failure, output)
    end({ failure })
  }
  interruption.beforeEnd(() => {
    if (!hasEnded) fail(failureOf(new Interrupted(interruption.exitCode() ?? EXIT.interrupted, AT_ONCE)))
  })
  try {
    const result = await command({ output, env: streams.env, options, interruption })
    end({ result })
    return result.exitCode
  } catch (error) {
    const failure = failureOf(error, settingNames(options, streams.env))
    fail(failure)
    return failure.exitCode
  }
}
