import { failureOf } from '../run/failureOf.ts'
import { formatOf } from '../text/format.ts'
import { outputOn, reportFailure, type Streams } from '../text/output.ts'
import { closingText, type Ending } from './closingText.ts'
import type { CommandContext, CommandResult } from './session/context.ts'
import type { Interruption } from './session/interruption.ts'
import type { CommandOptions } from './session/settings.ts'

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
  const end = (ending: Ending): void => {
    const text = closingText(format, name, ending, streams.cwd)
    if (text !== undefined) output.closing(text)
  }
  try {
    const result = await command({ output, env: streams.env, options, interruption })
    end({ result })
    return result.exitCode
  } catch (error) {
    const failure = failureOf(error)
    reportFailure(failure, output)
    end({ failure })
    return failure.exitCode
  }
}
