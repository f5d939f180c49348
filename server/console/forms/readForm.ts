import type * as z from 'zod'
import { ApiError } from '../../../api/contract/apiError.ts'

/** Faults of a form by field name; '' for the form as a whole. */
export type Faults = Readonly<Record<string, string>>

/** The fields of a form parsed by `schema`, or the first fault of each field. Pure. */
export function readForm<Value>(
  schema: z.ZodType<Value>,
  fields: unknown,
): { readonly value: Value } | { readonly faults: Faults } {
  const result = schema.safeParse(fields)
  if (result.success) return { value: result.data }
  const faults: Record<string, string> = {}
  for (const { path, message } of result.error.issues) faults[String(path[0] ?? '')] ??= message
  return { faults }
}

/**
 * Runs a change, and returns its refusal as a fault of the field in `names` with which the message begins, or of the
 * form. Rethrows errors that a person cannot correct in the form.
 */
export async function refusalOf(
  names: readonly string[],
  work: () => Promise<unknown>,
): Promise<Faults | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError) || (error.code !== 'invalid' && error.code !== 'forbidden')) throw error
    const name = names.find((one) => error.message.startsWith(`${one}: `))
    return { [name ?? '']: name === undefined ? error.message : error.message.slice(name.length + 2) }
  }
}

/** The trimmed text of a field, with line breaks as LF. Pure. */
export function formText(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').replaceAll('\r\n', '\n').trim()
}
