import { type TerraformResource, TerraformStack } from 'cdktf'

const taken = new WeakMap<TerraformStack, Map<string, TerraformResource>>()

/**
 * Reserves the address of `name`, or else of the id of `resource`, and releases its previous address.
 * Throws when the id has no valid Terraform address, or when another resource of the stack has the same address: an
 * address leaves out characters that Terraform does not allow, and two resources with one address would be merged
 * silently.
 *
 * `friendlyUniqueId` is not used, because after its first use the library no longer accepts another name.
 */
function takeAddress(resource: TerraformResource, name?: string): void {
  const { node, terraformResourceType } = resource
  const stack = TerraformStack.of(resource)
  const label = name ?? stack.getLogicalId(resource)
  if (!/^[a-z_]/i.test(label)) {
    throw new Error(
      `no Terraform address can be made from the id "${name ?? node.id}": start it with a letter from a to z or with _`,
    )
  }
  const address = `${terraformResourceType}.${label}`
  const owners = taken.get(stack) ?? new Map<string, TerraformResource>()
  const other = owners.get(address)
  if (other !== undefined && other !== resource) {
    throw new Error(
      `"${other.node.path}" and "${node.path}" have the same Terraform address, ${address}: rename one`,
    )
  }
  for (const [before, owner] of owners) if (owner === resource) owners.delete(before)
  taken.set(stack, owners.set(address, resource))
}

/** Reserves the address of `resource`, and updates it when the resource is renamed. */
export function reserveAddress(resource: TerraformResource): void {
  takeAddress(resource)
  const { overrideLogicalId, resetOverrideLogicalId } = resource
  resource.overrideLogicalId = (name) => {
    overrideLogicalId.call(resource, name)
    takeAddress(resource, name)
  }
  resource.resetOverrideLogicalId = () => {
    resetOverrideLogicalId.call(resource)
    takeAddress(resource)
  }
}
