// biome-ignore lint/performance/noBarrelFile: this is the module that users import as pharos/cdktf.
export { PharosProvider, type PharosProviderConfig } from './gen/provider'
export {
  Service,
  type ServiceConfig,
  type ServiceEndpoints,
  type ServiceEndpointsAssertions,
  type ServiceEndpointsHttp,
  type ServiceEndpointsHttpBody,
  type ServiceEndpointsHttpHeaders,
} from './gen/service'
