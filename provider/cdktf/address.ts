import { type TerraformResource, TerraformStack } from 'cdktf'

/** Addresses of each stack's services, with the path of the construct that has it. */
const taken = new WeakMap<TerraformStack, Map<string, string>>()

/**
 * Throws when no Terraform address can be made of the id of `resource`, or when another of its stack has the same:
 * an address leaves out what Terraform does not allow of an id, and two resources of one address would be merged
 * into one, silently.
 */
export function assertOwnAddress(resource: TerraformResource): void {
  const { friendlyUniqueId: address, node } = resource
  if (!/^[a-z_]/i.test(address)) {
    throw new Error(
      `no Terraform address can be made of the id "${node.id}": start it with a letter from a to z or with _`,
    )
  }
  const stack = TerraformStack.of(resource)
  const paths = taken.get(stack) ?? new Map<string, string>()
  const other = paths.get(address)
  if (other !== undefined) {
    throw new Error(
      `"${other}" and "${node.path}" have one Terraform address, ${resource.terraformResourceType}.${address}: rename one`,
    )
  }
  taken.set(stack, paths.set(address, node.path))
}
