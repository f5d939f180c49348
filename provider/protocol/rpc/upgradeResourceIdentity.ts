import { conform } from '../values/conform.ts'
import { parseJson } from '../values/json.ts'
import type { MessageOf } from '../wire/message.ts'
import type { upgradeResourceIdentity as messages } from '../wire/tfplugin6.ts'
import { type Call, createReporter, responseOf } from './call.ts'
import { lookUp } from './handlers.ts'
import { identityTypes } from './identity.ts'
import { encodeValue } from './wireValue.ts'

type Request = MessageOf<typeof messages.request>
type Response = Partial<MessageOf<typeof messages.response>>

/** A stored identity in its current form. Identities have only one version, so only the type is checked. */
export async function upgradeResourceIdentity(request: Request, call: Call): Promise<Response> {
  const reporter = createReporter(call)
  const upgradedIdentity = await reporter.attempt(`Reading the identity of ${request.typeName}`, async () => {
    const resource = lookUp(call.session.provider.resources, request.typeName)
    const types = identityTypes(resource)
    if (types === undefined) throw new Error(`${request.typeName} has no identity`)
    const stored = parseJson(Buffer.from(request.rawIdentity?.json ?? new Uint8Array()).toString())
    return { data: encodeValue({ object: types }, conform({ object: types }, stored)) }
  })
  return responseOf(reporter, upgradedIdentity && { upgradedIdentity }, {})
}
