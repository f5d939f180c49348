import type * as z from 'zod'
import { ApiError } from '../../../api/contract/apiError.ts'

/** What is wrong with a form, by the name of the field; '' for what belongs to no field. */
export type Faults = Readonly<Record<string, string>>

/** The fields of a form under `schema`: its value, or the first fault of each field. Pure. */
export function readForm<Value>(
  schema: z.ZodType<Value>,
  fields: unknown,
): { readonly value: Value } | { readonly faults: Faults } {
  const result = schema.safeParse(fields)
  if (result.success) return { value: result.data }
  const faults: Record<string, string> = {}
  for (const { path, message } of result.error.issues) faults[String(path[0] ?? '')] ??= sentence(message)
  return { faults }
}

/**
 * Runs a change. Its refusal becomes a fault of the field that the message begins with, if `names` has it; errors that a
 * form cannot mend pass through.
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
    return {
      [name ?? '']: sentence(name === undefined ? error.message : error.message.slice(name.length + 2)),
    }
  }
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

/** A line break of a form, CR LF, as the one character that is stored. Pure. */
export function formText(form: URLSearchParams, name: string): string {
  return (form.get(name) ?? '').replaceAll('\r\n', '\n').trim()
}
