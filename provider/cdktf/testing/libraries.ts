/** One of the libraries that the bindings are built for, with its bindings as they are published. */
export interface Library {
  readonly name: string
  readonly terraform: typeof import('cdktf')
  readonly pharos: typeof import('pharos/cdktf')
}

export type Stack = InstanceType<Library['terraform']['TerraformStack']>

/** `cdktf` and `cdktn`. */
export const libraries: readonly Library[] = [
  { name: 'cdktf', terraform: await import('cdktf'), pharos: await import('pharos/cdktf') },
  await continuation(),
]

async function continuation(): Promise<Library> {
  const [terraform, pharos] = await Promise.all([import('cdktn'), import('pharos/cdktn')])
  // True of everything that the tests use: the continuation has the names of what it continues, as other classes.
  return { name: 'cdktn', terraform, pharos } as object as Library
}

/** The document of the stack that `fill` fills, without what the library says of itself. */
export function synthesised(
  { terraform }: Library,
  fill: (stack: Stack) => void,
): Readonly<Record<string, unknown>> {
  const stack = new terraform.TerraformStack(terraform.Testing.app(), 'stack')
  fill(stack)
  return withoutComments(JSON.parse(terraform.Testing.synth(stack)))
}

function withoutComments<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutComments) as Value & unknown[]
  const entries = Object.entries(value).filter(([name]) => name !== '//')
  // True because only the entries' values change, and those to themselves without comments.
  return Object.fromEntries(entries.map(([name, entry]) => [name, withoutComments(entry)])) as Value
}
