import { ConnectionError } from '../../api/client/attempt.ts'
import { UnreadableResponse } from '../../api/client/contractResponse.ts'
import { KeysOfDifferentOrgs } from '../../api/client/keyRing.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import { databaseFailureText, isDatabaseError } from './databaseFailure.ts'
import { EXIT } from './exitCode.ts'
import { ExpectedFailure, type Failure, type FailureCode } from './failure.ts'
import { fileErrorText, isFileError } from '../../api/runtime/fileReason.ts'

/** What the settings for the API are called where a user corrects them. */
export interface SettingNames {
  readonly url: string
  readonly key: string
}

const VARIABLES: SettingNames = { url: 'PHAROS_URL', key: 'PHAROS_API_KEY' }

/** `error` as a failure for users. The message of an unexpected error includes its stack. Pure. */
export function failureOf(error: unknown, names = VARIABLES): Failure {
  if (error instanceof ExpectedFailure) {
    const { code, message, exitCode } = error
    return { code, message, exitCode }
  }
  const [code, message] = codeAndMessage(error, names)
  return { code, message, exitCode: EXIT.couldNotRun }
}

function codeAndMessage(error: unknown, { url, key }: SettingNames): readonly [FailureCode, string] {
  if (error instanceof KeysOfDifferentOrgs) return ['E_ORG_MISMATCH', error.message]
  if (error instanceof ConnectionError)
    return ['E_NETWORK', `${error.message}: ${error.hint ?? `check ${url} and that the server is up`}`]
  if (error instanceof ApiError) return ['E_API', apiMessage(error, key)]
  if (error instanceof UnreadableResponse)
    return ['E_ANSWER', `${error.message}: check ${url}, and proxies in front of the API`]
  if (isDatabaseError(error)) return ['E_STATE', `the state cannot be used: ${databaseFailureText(error)}`]
  if (isFileError(error)) return ['E_FILE', fileErrorText(error)]
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return ['E_INTERNAL', `this is a bug in pharos: ${text}`]
}

function apiMessage(error: ApiError, key: string): string {
  const text = `the API responded with ${error.status}: ${error.message}`
  if (error.code === 'unauthorized') return `${text}: check ${key}, the key may have been revoked`
  if (error.code === 'forbidden') return `${text}: the plan of the organisation may not include API access`
  return text
}
