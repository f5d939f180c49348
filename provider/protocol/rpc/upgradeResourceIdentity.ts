import { conform } from '../values/conform.ts'
import { parseJson } from '../values/json.ts'
import { type Rpc, respond } from './call.ts'
import { lookUp } from './handlers.ts'
import { identityTypes } from './identity.ts'
import { encodeValue } from './wireValue.ts'

/** A stored identity in its current form. Identities have only one version, so only the type is checked. */
export const upgradeResourceIdentity: Rpc<'UpgradeResourceIdentity'> = ({ typeName, rawIdentity }, call) =>
  respond({ call, what: `Reading the identity of ${typeName}` }, () => {
    const types = identityTypes(lookUp(call.session.provider.resources, typeName))
    if (types === undefined) throw new Error(`${typeName} has no identity`)
    const stored = parseJson(Buffer.from(rawIdentity?.json ?? new Uint8Array()).toString())
    const type = { object: types }
    return { upgradedIdentity: { data: encodeValue(type, conform(type, stored)) } }
  })
