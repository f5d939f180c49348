import { ApiError } from '../../../api/contract/apiError.ts'
import { formatPath, type Problem } from '../../../api/contract/problem.ts'

/** Maximum length of an error text (characters). Gap G11. */
const MESSAGE_CHARS_MAX = 300

/** The refusal of a body because of `problem`. Pure. */
export function invalidBody({ path, message }: Problem): ApiError {
  const where = path.length === 0 ? 'body' : formatPath(path)
  return new ApiError('invalid', `${where}: ${message}`.slice(0, MESSAGE_CHARS_MAX))
}
