import { surviveLostOutput } from '../api/runtime/surviveLostOutput.ts'
import { runCommandLine } from './administration/runCommandLine.ts'

surviveLostOutput('pharos-server')

const exitCode = await runCommandLine(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  environment: process.env,
})
// An output that is lost has set it already.
if (exitCode !== 0) process.exitCode = exitCode
