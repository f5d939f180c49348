import { CommanderError } from 'commander'
import { fileErrorText, isFileError } from '../api/runtime/fileReason.ts'
import { surviveLostOutput } from '../api/runtime/surviveLostOutput.ts'
import { commandLine } from './program/commandLine.ts'

surviveLostOutput('pharos-agent')

commandLine({ write: (text) => process.stdout.write(text), environment: process.env })
  .parseAsync()
  .catch((error: unknown) => {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode
      return
    }
    process.exitCode = 1
    process.stderr.write(`pharos-agent: ${failureText(error)}\n`)
  })

function failureText(error: unknown): string {
  if (isFileError(error)) return fileErrorText(error)
  return error instanceof Error ? error.message : String(error)
}
