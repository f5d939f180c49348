/** Largest list of services rendered in memory (bytes): it takes several times the memory. Gap G33. */
export const WHOLE_LIST_BYTES_MAX = 8 * 1024 * 1024
/** Minimum size of a piece except the last (bytes): many small services share one piece. */
const PIECE_BYTES = 256 * 1_024

const OPENING = Buffer.from('[')
const COMMA = Buffer.from(',')
const CLOSING = Buffer.from(']')

/** The JSON array of `rows` in pieces; reading the rows starts with the first piece. */
export async function* listPieces(
  rows: () => Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void> {
  let gathered: Uint8Array[] = [OPENING]
  let bytes = 0
  let isFirst = true
  for await (const row of rows()) {
    if (!isFirst) gathered.push(COMMA)
    isFirst = false
    gathered.push(row)
    bytes += row.length
    if (bytes < PIECE_BYTES) continue
    yield Buffer.concat(gathered)
    gathered = []
    bytes = 0
  }
  gathered.push(CLOSING)
  yield Buffer.concat(gathered)
}
