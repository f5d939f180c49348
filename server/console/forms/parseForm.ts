/** Maximum number of fields of a form: the editor of a status page has five per line and 500 lines. */
const FIELDS_MAX = 3_000

/** Thrown for a form with more fields than any page. */
class TooManyFieldsError extends Error {
  readonly statusCode = 413
}

/**
 * The fields of a form (application/x-www-form-urlencoded), with line breaks as LF. Throws when there are too many,
 * because each lookup searches all fields.
 */
export function parseForm(body: string): URLSearchParams {
  if (body.split('&', FIELDS_MAX + 1).length > FIELDS_MAX) throw new TooManyFieldsError('too many fields')
  return new URLSearchParams(body.replaceAll(/%0D%0A/gi, '%0A'))
}
