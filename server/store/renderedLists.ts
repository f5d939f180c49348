/** Most bytes of rendered lists that are kept at a time. */
export const LISTS_BYTES_MAX = 64 * 1024 * 1024

/** Rendered lists of organisations, kept until anything is committed. */
export interface RenderedLists {
  /**
   * The list of `orgId` as of `version`: the one that is kept, or what `render` makes now. A version is another
   * number whenever anything was committed, by whichever process.
   */
  readonly get: (orgId: string, version: number, render: () => Buffer) => Buffer
}

/**
 * Plans and drift checks ask for the same list over and over while nothing changes: rendering it again costs
 * more than sending it.
 */
export function renderedLists(bytesMax: number = LISTS_BYTES_MAX): RenderedLists {
  const kept = new Map<string, Buffer>()
  let bytes = 0
  let keptAt = -1
  const forget = (): void => {
    kept.clear()
    bytes = 0
  }
  return {
    get: (orgId, version, render) => {
      if (version !== keptAt) forget()
      keptAt = version
      const known = kept.get(orgId)
      if (known !== undefined) return known
      const list = render()
      if (bytes + list.length > bytesMax) forget()
      if (list.length <= bytesMax) {
        kept.set(orgId, list)
        bytes += list.length
      }
      return list
    },
  }
}
