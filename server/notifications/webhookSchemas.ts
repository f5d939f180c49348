import * as z from 'zod'
import { type EventType, PAYLOADS } from '../domain/notifications/payload.ts'

/** The JSON schemas of payloads, by the names of their files. Members may be added later. Pure. */
export function webhookSchemas(): ReadonlyMap<string, object> {
  // True because the keys of the table are its events.
  const types = Object.keys(PAYLOADS) as EventType[]
  return new Map(
    types.map((type) => [
      `${type}.schema.json`,
      { title: type, ...z.toJSONSchema(PAYLOADS[type], { io: 'input' }) },
    ]),
  )
}
