import { failure } from '../authoring/diagnostics.ts'
import type { AnyResource } from '../authoring/provider.ts'
import { withoutWriteOnly } from '../state/writeOnly.ts'
import { conform } from '../values/conform.ts'
import { isObject } from '../values/equality.ts'
import { isJsonObject, type JsonObject, parseJson } from '../values/json.ts'
import { type Rpc, respond } from './call.ts'
import { lookUp } from './handlers.ts'
import { encodeValue } from './wireValue.ts'

function upgrade(resource: AnyResource<unknown>, from: number, stored: JsonObject): JsonObject {
  const current = resource.schema.version ?? 0
  let state = stored
  for (let version = from; version < current; version += 1) {
    const upgrader = resource.upgraders?.[version]
    if (upgrader === undefined) {
      throw failure(`State of version ${version} cannot be read`, `The schema's version is ${current}.`)
    }
    state = upgrader(state)
  }
  return state
}

/**
 * Converts stored state to the current schema: runs upgraders, drops attributes that the schema no longer has, and sets new ones to
 * null. Runs on every read of stored state, of any version.
 */
export const upgradeResourceState: Rpc<'UpgradeResourceState'> = ({ typeName, version, rawState }, call) =>
  respond({ call, what: `Reading the stored state of ${typeName}` }, () => {
    const { handlers, type } = lookUp(call.session.provider.resources, typeName)
    const stored = parseJson(Buffer.from(rawState?.json ?? []).toString())
    if (!isJsonObject(stored)) throw new Error('the stored state is not an object')
    const state = conform(type, upgrade(handlers, version, stored), 'stored')
    const known = isObject(state) ? withoutWriteOnly(handlers.schema.attributes, state) : null
    return { upgradedState: encodeValue(type, known) }
  })
