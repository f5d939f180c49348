/** Most fields of a form: the editor of a status page has five a line, and 500 lines. */
const FIELDS_MAX = 3_000

/** Thrown for a form with more fields than any page has. */
class TooManyFieldsError extends Error {
  readonly statusCode = 413
}

/**
 * The fields of a form (application/x-www-form-urlencoded); a line break is one character. Throws when there are too many:
 * each look-up of a field searches all of them.
 */
export function parseForm(body: string): URLSearchParams {
  if (body.split('&', FIELDS_MAX + 1).length > FIELDS_MAX) throw new TooManyFieldsError('too many fields')
  return new URLSearchParams(body.replaceAll(/%0D%0A/gi, '%0A'))
}
