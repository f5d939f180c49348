import { dirname } from 'node:path'
import { codeOf } from '../../api/runtime/errorCode.ts'
import { fileReason } from '../../api/runtime/fileReason.ts'
import { ExpectedFailure } from './failure.ts'

/** An output file cannot be written. */
export class UnwritableFile extends ExpectedFailure {
  override readonly name = 'UnwritableFile'
  readonly code = 'E_FILE'

  constructor(file: string, cause: unknown) {
    super(unwritableText(file, cause), { cause })
  }
}

function unwritableText(file: string, cause: unknown): string {
  const code = codeOf(cause)
  if (code === 'ENOENT')
    return `there is no folder ${dirname(file)} for ${file}: create it, or use another path`
  if (code === 'EEXIST' && cause instanceof Error && 'path' in cause)
    return `${cause.path} is a file, not a folder: use another path`
  if (code === 'ENOTDIR') return `${file} cannot be created below a file: use another path`
  return `${file} cannot be written: ${fileReason(cause)}`
}
