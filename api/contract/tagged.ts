import * as z from 'zod'

type Payloads = Readonly<Record<string, z.ZodType>>

/** One object type per tag, each with that tag as its only key; a tag whose payload is `never` has no type. */
export type Tagged<P extends Payloads> = {
  [K in keyof P & string]: [z.output<P[K]>] extends [never] ? never : { [Only in K]: z.output<P[K]> }
}[keyof P & string]

/**
 * The schema of the contract's single-key tagged objects: exactly one of the keys of `payloads`, with its
 * payload. Two known keys are ambiguous and an unknown one is an error, also where unknown fields are
 * ignored elsewhere (Gap G17).
 */
export function tagged<P extends Payloads>(payloads: P): z.ZodType<Tagged<P>, Tagged<P>> {
  const tags = Object.keys(payloads)
  const options = tags.map((tag) => z.strictObject({ [tag]: payloads[tag] ?? z.never() }))
  const union = z.union(options, { error: `must have exactly one of the keys ${tags.join(', ')}` })
  // True because each option is a strict object with one tag and that tag's payload: what Tagged says.
  return union as z.ZodType as z.ZodType<Tagged<P>, Tagged<P>>
}

/** The members of `Union`, discriminated by `kind`. */
export type Variant<Union> = Union extends object
  ? { [Tag in keyof Union]: { readonly kind: Tag; readonly payload: Union[Tag] } }[keyof Union]
  : never

/** The one tag of `value` and its payload, for a switch over `kind` that the compiler checks for completeness. Pure. */
export function variantOf<Union extends object>(value: Union): Variant<Union> {
  const [entry] = Object.entries(value)
  // True because a tagged object has exactly one key.
  return { kind: entry?.[0], payload: entry?.[1] } as Variant<Union>
}
