import { ConnectionError } from '../../api/client/attempt.ts'
import { UnreadableResponse } from '../../api/client/contractResponse.ts'
import { ApiError } from '../../api/contract/apiError.ts'
import { failure } from '../protocol/authoring/diagnostics.ts'

/** Where a user corrects the settings for the API. */
interface SettingNames {
  readonly url: string
  readonly key: string
}

/** What is done with the API; `task` is for users, such as "create the service". */
export interface Task {
  readonly task: string
  readonly operation: 'create' | 'read' | 'update' | 'delete'
}

/** The attributes of a provider block, and the variables that it uses without them. */
const OF_PROVIDER = {
  url: 'url of the provider (or PHAROS_URL)',
  key: 'api_key of the provider (or PHAROS_API_KEY)',
}

/**
 * The result of `work`. A failure of the API becomes a diagnostic with the failed task, the API's
 * message, and advice. Other errors are thrown unchanged.
 */
export async function withExplainedFailure<T>(
  { task, operation }: Task,
  work: () => Promise<T>,
  { url, key }: SettingNames = OF_PROVIDER,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const detail = detailOf(error, operation, { url, key })
    if (detail === undefined) throw error
    throw failure(`Cannot ${task}`, detail)
  }
}

/** What happened, and advice; `undefined` for an error that is not of the API. */
function detailOf(
  error: unknown,
  operation: Task['operation'],
  { url, key }: SettingNames,
): string | undefined {
  // The API's message is unchanged, because it may begin with the name of a field.
  if (error instanceof ApiError)
    return `The API responded: ${error.message}. ${advice(error, operation, key)}`
  if (error instanceof ConnectionError) {
    const hint = error.hint ?? `check ${url} and that the server runs`
    const outcome =
      error.outcome === 'unknown'
        ? 'It is unknown whether the API applied the change: check before you apply again.'
        : `Nothing was changed: ${hint.endsWith('?') ? hint : `${hint}.`}`
    return `There was ${error.message}. ${outcome}`
  }
  if (error instanceof UnreadableResponse) {
    return `The response cannot be used: ${error.message}. Check ${url}, and any proxy in front of the API.`
  }
  return undefined
}

function advice(error: ApiError, operation: Task['operation'], key: string): string {
  switch (error.status) {
    case 400:
      return 'The API refused the definition (status 400).'
    case 401:
      return `The API key is missing, malformed or revoked (status 401): check ${key}.`
    case 403:
      return operation === 'read'
        ? 'The plan of the organisation may not include API access (status 403).'
        : 'Either the API key is read-only, or the plan of the organisation does not allow this (status 403).'
    case 404:
      return 'It has been deleted meanwhile (status 404): plan again.'
    default:
      return error.status >= 500
        ? `The API failed (status ${error.status}), also on retries: check before you apply again.`
        : `The API responded with status ${error.status}.`
  }
}
