/** Groups `items` by name, in order of first appearance; items without a name are left out. Pure. */
export function grouped<Item>(
  items: readonly Item[],
  nameOf: (item: Item) => string | undefined,
): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const name = nameOf(item)
    if (name === undefined) continue
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [item])
    else group.push(item)
  }
  return groups
}
