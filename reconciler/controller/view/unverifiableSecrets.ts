import type { SensitiveOutput, ServiceResponse } from '../../../api/contract/service.ts'

/**
 * Number of secrets of `services` whose replacement cannot be detected: the API shows their `key_id`, and several secrets
 * share it. Zero for an API with one `key_id` for each value. Pure.
 */
export function unverifiableSecrets(services: readonly ServiceResponse[]): number {
  const uses = new Map<string, number>()
  for (const { endpoints } of services) {
    for (const { call } of endpoints) {
      for (const value of Object.values(call.Http.headers ?? {})) count(value, uses)
      if (call.Http.body != null) count(call.Http.body, uses)
    }
  }
  return [...uses.values()].filter((times) => times > 1).reduce((sum, times) => sum + times, 0)
}

function count(value: SensitiveOutput, uses: Map<string, number>): void {
  if (!('Sealed' in value)) return
  const { key_id } = value.Sealed
  uses.set(key_id, (uses.get(key_id) ?? 0) + 1)
}
