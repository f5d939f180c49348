import type { ResultsPlace } from '../../store/engine.ts'
import type { MovableResults } from '../../store/moving/moveStore.ts'
import { ChunkWriter, decodeChunk } from '../history/chunk.ts'

/** Results, to be moved with their store. */
export const movableResults: MovableResults = {
  prepare: async (place) => {
    try {
      return await prepare(place)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`the results do not move: ${reason}. Leave them behind with --without results`, {
        cause: error,
      })
    }
  },
  repack: (chunk) => {
    const results = decodeChunk(chunk)
    return { chunk: new ChunkWriter(results).bytes, results: results.length }
  },
}

/** Makes or migrates the tables of results in `place`; the file or schema that has them. Loads the libraries that it needs. */
async function prepare(place: ResultsPlace): Promise<string> {
  if ('dataDir' in place) {
    const { prepareFile } = await import('../file/openResults.ts')
    return prepareFile(place.dataDir)
  }
  const { prepareSchema } = await import('../postgres/postgresResults.ts')
  return prepareSchema(place.databaseUrl)
}
