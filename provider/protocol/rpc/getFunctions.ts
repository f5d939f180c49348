/** The provider's functions: none. OpenTofu asks; Terraform reads the schema. */
export async function getFunctions(): Promise<object> {
  return {}
}
