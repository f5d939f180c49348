import { surviveBrokenOutput } from './cli/brokenOutput.ts'
import { runProgram } from './cli/program.ts'
import { interruptionOf } from './cli/session/interruption.ts'
import { EXIT } from './run/exitCode.ts'

let isOutputLost = false
surviveBrokenOutput(process, () => {
  isOutputLost = true
  process.exitCode = EXIT.couldNotRun
})

const streams = { stdout: process.stdout, stderr: process.stderr, env: process.env, cwd: process.cwd() }
const exitCode = await runProgram(process.argv, streams, interruptionOf(process))
process.exitCode = isOutputLost ? EXIT.couldNotRun : exitCode
