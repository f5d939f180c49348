/** The tables of HPACK: headers that a number stands for (RFC 7541, 2.3 and appendix A). */

export type Header = readonly [name: string, value: string]

/** `name=value` by index from 1; most names have no value. */
const STATIC_TABLE: readonly Header[] = (
  ':authority|:method=GET|:method=POST|:path=/|:path=/index.html|:scheme=http|:scheme=https|' +
  ':status=200|:status=204|:status=206|:status=304|:status=400|:status=404|:status=500|' +
  'accept-charset|accept-encoding=gzip, deflate|accept-language|accept-ranges|accept|' +
  'access-control-allow-origin|age|allow|authorization|cache-control|content-disposition|' +
  'content-encoding|content-language|content-length|content-location|content-range|content-type|' +
  'cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|' +
  'if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|' +
  'proxy-authorization|range|referer|refresh|retry-after|server|set-cookie|' +
  'strict-transport-security|transfer-encoding|user-agent|vary|via|www-authenticate'
)
  .split('|')
  .map((entry) => {
    const [name = '', value = ''] = entry.split('=')
    return [name, value]
  })

/** The size of the dynamic table, of which this server announces no other (RFC 9113, 6.5.2). */
export const TABLE_BYTES_MAX = 4_096
/** Counted for each header beside its name and value (RFC 7541, 4.1). */
const OVERHEAD_BYTES = 32

/** The size of a header, as tables and limits count it. Pure. */
export function headerBytes([name, value]: Header): number {
  return name.length + value.length + OVERHEAD_BYTES
}

/** The headers that the peer may name by number: static ones, then those that it added, newest first. */
export class HeaderTable {
  readonly #added: Header[] = []
  #bytes = 0
  #bytesMax = TABLE_BYTES_MAX

  /** The header of `index`; `undefined` when there is none. */
  get(index: number): Header | undefined {
    return index <= STATIC_TABLE.length
      ? STATIC_TABLE[index - 1]
      : this.#added[index - STATIC_TABLE.length - 1]
  }

  /** Adds a header, in place of the oldest ones. One that is larger than the table empties it. */
  add(header: Header): void {
    this.#added.unshift(header)
    this.#bytes += headerBytes(header)
    this.#evict()
  }

  /** Changes the size; at most TABLE_BYTES_MAX. */
  resize(bytesMax: number): void {
    this.#bytesMax = bytesMax
    this.#evict()
  }

  #evict(): void {
    while (this.#bytes > this.#bytesMax) {
      const oldest = this.#added.pop()
      if (oldest === undefined) return
      this.#bytes -= headerBytes(oldest)
    }
  }
}
