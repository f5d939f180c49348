import { ApiError } from '../../../api/contract/apiError.ts'
import { readChangeSource, SOURCE_HEADER, UNKNOWN_SOURCE } from '../../../api/contract/changeSource.ts'
import { type ChangeOrigin, originOf } from '../../domain/changeOrigin.ts'
import type { Exchange } from './operation.ts'

/**
 * The origin of the change that a request makes, from its headers. Throws `invalid` for a malformed Pharos-Origin,
 * because a client that sends it wants it stored. Gap G48.
 */
export function readOrigin({ caller, header }: Exchange, nowMs: number): ChangeOrigin {
  const sent = header(SOURCE_HEADER)
  const source = sent === undefined ? UNKNOWN_SOURCE : readSource(sent)
  return originOf({ nowMs, keyId: caller.keyId, userAgent: header('user-agent'), source })
}

function readSource(sent: string) {
  try {
    return readChangeSource(sent)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new ApiError('invalid', `Pharos-Origin: ${error.message}`, { cause: error })
  }
}
