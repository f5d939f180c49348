/** Paths of the methods that a plugin answers before its provider is loaded. */
export const PATHS = {
  schema: '/tfplugin6.Provider/GetProviderSchema',
  /** With this method Terraform ends a plugin. */
  shutdown: '/plugin.GRPCController/Shutdown',
  /** A stream of what the plugin would print. Nothing is printed, so it stays silent. */
  stdio: '/plugin.GRPCStdio/StreamStdio',
  /** Further connections between Terraform and a plugin. Providers make none. */
  broker: '/plugin.GRPCBroker/StartStream',
} as const
