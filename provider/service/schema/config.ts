/** The parts of a configuration of `pharos_service` that several files use. */
import type { ConfigOf } from '../../protocol/authoring/inferred.ts'
import type { Unknown } from '../../protocol/values/value.ts'
import type { serviceSchema } from './schema.ts'

export type ServiceConfig = ConfigOf<typeof serviceSchema>
export type EndpointConfig = Exclude<Exclude<ServiceConfig['endpoints'], Unknown>[number], Unknown>
export type AssertionConfig = Exclude<Exclude<EndpointConfig['assertions'], Unknown | null>[number], Unknown>
