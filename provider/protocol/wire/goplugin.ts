/** The messages of go-plugin's health service. */
import { message, string, uint32 } from './message.ts'

export const healthCheck = {
  request: message({ service: string(1) }),
  response: message({ status: uint32(1) }),
}

/** `HealthCheckResponse.ServingStatus`. */
export const HEALTH = { serving: 1, serviceUnknown: 3 } as const
