/**
 * `value` as JSON. Throws, with the place, for a value that JSON does not have: `JSON.stringify` would write `{}` for a
 * Map and leave a function out. A member that is `undefined` is left out, as everywhere. Pure.
 */
export function jsonText(value: unknown): string {
  assertJson(value, '')
  return JSON.stringify(value)
}

function assertJson(value: unknown, path: string): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return
  if (typeof value === 'number' && Number.isFinite(value)) return
  if (value === undefined || typeof value === 'number') refuse(String(value), path)
  if (typeof value !== 'object') refuse(`a ${typeof value}`, path)
  // A Date has its own JSON form.
  if ('toJSON' in value && typeof value.toJSON === 'function') return
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === null
  if (!Array.isArray(value) && !isPlain) refuse(`a ${value.constructor.name}`, path)
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined && !Array.isArray(value)) continue
    assertJson(member, `${path}.${key}`)
  }
}

function refuse(found: string, path: string): never {
  throw new Error(`the JSON body${path} is ${found}, which JSON does not have`)
}
