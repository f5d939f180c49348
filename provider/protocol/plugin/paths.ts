/** Paths of the methods that a plugin serves before its provider is loaded. */
export const PATHS = {
  schema: '/tfplugin6.Provider/GetProviderSchema',
  /** Terraform ends a plugin with this method. */
  shutdown: '/plugin.GRPCController/Shutdown',
  /** The stream of the plugin's output, which remains empty. */
  stdio: '/plugin.GRPCStdio/StreamStdio',
  /** Further connections between Terraform and a plugin. Providers use none. */
  broker: '/plugin.GRPCBroker/StartStream',
} as const
