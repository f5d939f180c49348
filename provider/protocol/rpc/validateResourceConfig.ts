import { type Diagnostic, errorAt } from '../authoring/diagnostics.ts'
import type { Attributes } from '../authoring/schema.ts'
import { writeOnlyPaths } from '../state/writeOnly.ts'
import { formatPath } from '../values/path.ts'
import type { ObjectValue } from '../values/value.ts'
import { type Rpc, respond } from './call.ts'
import { callContext, checkConfig, lookUp } from './handlers.ts'
import { capabilitiesOf, requireObject } from './wireValue.ts'

/**
 * Errors for write-only attributes in `config` when the client is too old: it would silently send null instead of the
 * value.
 */
function writeOnlyUnsupported(attributes: Attributes, config: ObjectValue): readonly Diagnostic[] {
  return writeOnlyPaths(attributes, config).map((path) =>
    errorAt(
      path,
      'Write-only attributes need Terraform 1.11 or OpenTofu 1.11',
      `${formatPath(path)} is write-only, which the program that runs this configuration does not support. ` +
        'Upgrade it to Terraform 1.11, OpenTofu 1.11 or later, or remove the attribute.',
    ),
  )
}

/** Validates a resource's configuration. Runs without a client, and again when more values are known. */
export const validateResourceConfig: Rpc<'ValidateResourceConfig'> = (request, call) =>
  respond({ call, what: `Validating ${request.typeName}` }, async (reporter) => {
    const { handlers, type } = lookUp(call.session.provider.resources, request.typeName)
    const config = requireObject(type, request.config, 'configuration')
    const capabilities = capabilitiesOf(request.clientCapabilities)
    if (!capabilities.writeOnlyAttributesAllowed) {
      writeOnlyUnsupported(handlers.schema.attributes, config).forEach(reporter.report)
    }
    await checkConfig(handlers, config, callContext(call, reporter), capabilities)
    return {}
  })
