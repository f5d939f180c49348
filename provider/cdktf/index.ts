// biome-ignore-start lint/performance/noBarrelFile: this is the module that users import as pharos/cdktf.
export { DataPharosIncident, type DataPharosIncidentConfig } from './.gen/data-pharos-incident'
export { DataPharosIncidents, type DataPharosIncidentsConfig } from './.gen/data-pharos-incidents'
export { DataPharosOrg, type DataPharosOrgConfig } from './.gen/data-pharos-org'
export { DataPharosRegions, type DataPharosRegionsConfig } from './.gen/data-pharos-regions'
export { DataPharosService, type DataPharosServiceConfig } from './.gen/data-pharos-service'
export { DataPharosServices, type DataPharosServicesConfig } from './.gen/data-pharos-services'
export type { IncidentConfig } from './.gen/incident'
export type {
  ServiceConfig,
  ServiceEndpoints,
  ServiceEndpointsAssertions,
  ServiceEndpointsHttp,
  ServiceEndpointsHttpBody,
  ServiceEndpointsHttpHeaders,
  ServiceTimeouts,
} from './.gen/service'
export {
  type Assertion,
  body,
  type DurationMatcher,
  type DurationOperator,
  dns,
  header,
  type IntegerOperator,
  latency,
  type Phase,
  status,
  type TextMatcher,
  type TextOperator,
} from './assertions.ts'
export { type Duration, duration, type Interval } from './duration.ts'
export { type Endpoint, get, post } from './endpoint.ts'
export { documentsIn, monitorEach, type NamedServiceConfig } from './fleet.ts'
export { Incident } from './incident.ts'
export { literal } from './literal.ts'
export { MonitoredService, type MonitoredServiceConfig, type ServiceDefaults } from './monitoredService.ts'
export { PharosProvider, type PharosProviderConfig } from './pharosProvider.ts'
export type { Region } from './region.ts'
export { type Secret, secretFromEnv, secretFromVariable, secretText } from './secret.ts'
export { Service } from './service.ts'
export { type GroupedServiceConfig, ServiceGroup } from './serviceGroup.ts'
// biome-ignore-end lint/performance/noBarrelFile: this is the module that users import as pharos/cdktf.
