/**
 * Sends the creates of crowded.ts from a separate process. Replies to the message with their number twice: after the
 * first response, and after all responses.
 */
import { apiClient } from '../../server/testing/apiClient.ts'
import { serviceBody } from '../../server/testing/serviceBodies.ts'

/** The services to create: as many as each of the keys may create at once. */
export interface Creates {
  readonly url: string
  readonly keys: readonly string[]
  readonly perKey: number
}

process.once('message', async ({ url, keys, perKey }: Creates) => {
  let made = 0
  await Promise.all(
    keys
      .flatMap((key) => Array.from({ length: perKey }, () => key))
      .map(async (key) => {
        const { status } = await apiClient(url, key).post('/v1/services', serviceBody())
        if (status !== 201) return
        made += 1
        if (made === 1) process.send?.(made)
      }),
  )
  process.send?.(made)
  process.disconnect()
})
