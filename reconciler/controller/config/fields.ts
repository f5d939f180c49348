import { isAbsolute } from 'node:path'
import * as z from 'zod'
import { DURATION_FORM, parseDuration } from '../../../api/contract/duration.ts'

/** A non-empty text; `form` is the message. */
export const text = (form: string) => z.string({ error: form }).min(1, { error: form })

/** One of `values`. */
export const oneOf = <const Values extends readonly [string, ...string[]]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` })

export const flag = z.boolean({ error: 'must be true or false' })

/** A mapping with exactly these fields; `form` is the message. */
export const mappingAs = <const Shape extends z.core.$ZodLooseShape>(form: string, shape: Shape) =>
  z.strictObject(shape, { error: form })

/** A mapping with exactly these fields. */
export const mapping = <const Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  mappingAs('must be a mapping', shape)

/** A name that is used in addresses and labels of metrics. */
export const name = z.string({ error: 'must be a name' }).regex(/^[a-z0-9](?:[-a-z0-9]{0,62}[a-z0-9])?$/, {
  error: 'must be 1 to 64 lower-case letters, digits or "-", a letter or digit at both ends',
})

/** A file or folder; relative paths would depend on the working directory. */
export const absolutePath = z
  .string({ error: 'must be an absolute path' })
  .refine((path) => isAbsolute(path) && !path.includes('\0'), { error: 'must be an absolute path' })

/** A duration as in manifests of at least `leastMs`; read as milliseconds. `form` is the message. */
const durationOf = (form: string, leastMs: number) =>
  z
    .string({ error: form })
    .refine((written) => milliseconds(written) >= leastMs, { error: form })
    .transform(milliseconds)

/** A duration as in manifests, longer than zero; read as milliseconds. */
export const duration = durationOf(`must be ${DURATION_FORM}, longer than zero`, 1)

/** A duration of at least a second: a response of the API, or the start of git, may take as long. */
export const durationOfSeconds = durationOf('must be a duration of at least 1s, such as 30s or 1m30s', 1_000)

function milliseconds(written: string): number {
  const parsed = parseDuration(written)
  return parsed === undefined ? 0 : parsed.secs * 1_000 + Math.ceil(parsed.nanos / 1_000_000)
}

/** The name of an environment variable. */
export const variableName = z
  .string({ error: 'must be the name of an environment variable' })
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'must be the name of an environment variable' })

/** The place of a secret; the configuration never contains the secret itself. */
export const secretReference = z.union([mapping({ env: variableName }), mapping({ file: absolutePath })], {
  error: 'must be { env: NAME } or { file: /PATH }: the file must not contain the secret',
})
export type SecretReference = z.output<typeof secretReference>

/** A whole number of at least `least`. */
export const wholeNumber = (least: number) =>
  z
    .int({ error: `must be a whole number of at least ${least}` })
    .min(least, { error: `must be a whole number of at least ${least}` })
