import { type TerraformResource, TerraformStack } from 'cdktf'

/** Addresses of each stack's resources, with the resource that has it. */
const taken = new WeakMap<TerraformStack, Map<string, TerraformResource>>()

/**
 * Takes the address that `name`, or else the id of `resource`, makes; the address that `resource` had is free again.
 * Throws when no Terraform address can be made of the id, or when another resource of the stack has the same: an
 * address leaves out what Terraform does not allow of an id, and two resources of one address would be merged into one,
 * silently.
 *
 * `friendlyUniqueId` is not asked: with the first look at it the library no longer takes another name.
 */
function takeAddress(resource: TerraformResource, name?: string): void {
  const { node, terraformResourceType } = resource
  const stack = TerraformStack.of(resource)
  const label = name ?? stack.getLogicalId(resource)
  if (!/^[a-z_]/i.test(label)) {
    throw new Error(
      `no Terraform address can be made of the id "${name ?? node.id}": start it with a letter from a to z or with _`,
    )
  }
  const address = `${terraformResourceType}.${label}`
  const owners = taken.get(stack) ?? new Map<string, TerraformResource>()
  const other = owners.get(address)
  if (other !== undefined && other !== resource) {
    throw new Error(
      `"${other.node.path}" and "${node.path}" have one Terraform address, ${address}: rename one`,
    )
  }
  for (const [before, owner] of owners) if (owner === resource) owners.delete(before)
  taken.set(stack, owners.set(address, resource))
}

/** Takes the address of `resource`, and keeps to it when the resource is given another name, or its own again. */
export function keepAddress(resource: TerraformResource): void {
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
