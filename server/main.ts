import { runCommandLine } from './administration/runCommandLine.ts'

process.stdout.on('error', (error: Error & { code?: string }) => {
  process.exitCode = 1
  // The reader closed the pipe and has seen enough. A server continues in either case.
  if (error.code === 'EPIPE') return
  process.stderr.write(`pharos-server: stdout cannot be written (${error.message}): redirect it elsewhere\n`)
})

const exitCode = await runCommandLine(process.argv.slice(2), {
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  environment: process.env,
})
// An output that is lost has set it already.
if (exitCode !== 0) process.exitCode = exitCode
